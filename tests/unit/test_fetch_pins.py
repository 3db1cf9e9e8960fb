"""The pins that the project ships: CHECKSUMS against every releases.toml, and both against files at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from countback.fetch.checksums import read_checksums
from countback.fetch.obtain import find_local
from countback.fetch.release import Pin, Release, load_releases, redact

ROOT = Path(__file__).resolve().parents[2]
RELEASES = sorted((ROOT / "claims" / "papers").glob("*/releases.toml"))


def _all() -> list[Release]:
    return [release for path in RELEASES for release in load_releases(path)]


def _pins() -> list[Pin]:
    return [pin for release in _all() for pin in release.files]


def test_every_paper_has_its_releases() -> None:
    assert {path.parent.name for path in RELEASES} >= {"alt_test", "cubes", "culture_converse"}


def test_checksums_holds_every_full_pin_and_nothing_else() -> None:
    full = {pin.name: pin.sha256 for pin in _pins() if pin.kind == "full"}
    assert read_checksums(ROOT / "CHECKSUMS") == full
    assert len(full) == 27  # ten sets of two files, one archive, and six tables of counts


def test_ids_and_names_are_used_once() -> None:
    ids = [release.id for release in _all()]
    names = [pin.name.casefold() for pin in _pins()]
    assert (len(set(ids)), len(set(names))) == (len(ids), len(names))


def test_a_release_without_a_licence_or_a_file_says_why() -> None:
    silent = [release.id for release in _all() if not release.note and not (release.licence and release.files)]
    assert silent == []


def test_the_cubes_archives_are_pinned_as_the_article_prints_them(shared: Path) -> None:
    """The sizes with their commas, the digests and the links stand in the article's text and script."""
    article = (shared / "seeds" / "000_3c9b7e6b587c4816.txt").read_text("utf-8")
    first, second = (pin for pin in _pins() if pin.name.startswith("cubes/cube_"))
    if first.kind == "partial":
        first, second = second, first
    assert f"{Path(first.name).name} ({first.size:,} bytes" in article
    assert f"ja.zip   # {first.sha256}" in article
    assert first.url in article
    assert f"({second.size:,} bytes, sha256 {second.sha256_prefix}...{second.sha256_suffix})" in article
    assert f"download id {second.url.split('/')[4]}" in article
    assert second.url.partition("?")[2] == first.url.partition("?")[2]


def test_the_articles_short_form_of_the_first_digest_does_not_fit_it(shared: Path) -> None:
    """Its text says d51af09b...a498, its script a digest that ends in f498; the release's note says so."""
    article = (shared / "seeds" / "000_3c9b7e6b587c4816.txt").read_text("utf-8")
    (release,) = (release for release in _all() if release.id == "judge-alignment")
    digest = str(release.files[0].sha256)
    assert "sha256 d51af09b...a498" in article
    assert digest.startswith("d51af09b")
    assert not digest.endswith("a498")
    assert "d51af09b...a498" in release.note


def test_the_alt_test_pins_are_those_of_the_files_at_hand(shared: Path) -> None:
    """There the files have other names: they are found by size and digest alone."""
    pins = [pin for pin in _pins() if pin.name.startswith("alt-test/")]
    local = find_local(pins, shared / "data" / "alttest" / "raw")
    assert (len(local.found), local.missing, local.wrong, local.unreadable) == (20, (), (), ())
    for pin in pins:
        path = local.found[pin.name].path
        assert path.name == "_".join(Path(pin.path).parts[1:])
        assert local.found[pin.name].status == "verified"
        assert pin.url.endswith(f"/18428b1f4f34ac61c4978bc180263b90111e7337/{pin.path}")


@pytest.mark.parametrize("release", _all(), ids=lambda release: release.id)
def test_the_licence_line_shows_no_token(release: Release) -> None:
    assert "667be584" not in release.licence_line
    assert release.licence_line.startswith(f"{release.id} (https://")
    assert redact(release.licence_line) == release.licence_line
