"""Country names to ISO 3166 codes by an exact table. There is no fuzzy match: a name that fits two countries stops."""

from __future__ import annotations

from countback.fetch.codebook import tidy
from countback.fetch.errors import UserError

# What people write that is more than one country.
_AMBIGUOUS = {
    "korea": ("KOR", "PRK"),
    "america": ("USA", "ASM"),
    "congo": ("COD", "COG"),
    "virgin islands": ("VGB", "VIR"),
    "st martin": ("MAF", "SXM"),
}

# ISO 3166-1: alpha-3, alpha-2, then every name that is accepted, letter case aside; a long list takes two lines.
_TABLE = """
ABW AW Aruba
AFG AF Afghanistan
AGO AO Angola
AIA AI Anguilla
ALA AX Åland Islands | Aland Islands
ALB AL Albania
AND AD Andorra
ARE AE United Arab Emirates | UAE | U.A.E.
ARG AR Argentina
ARM AM Armenia
ASM AS American Samoa
ATA AQ Antarctica
ATF TF French Southern Territories | French Southern and Antarctic Lands
ATG AG Antigua and Barbuda | Antigua & Barbuda
AUS AU Australia
AUT AT Austria
AZE AZ Azerbaijan
BDI BI Burundi
BEL BE Belgium
BEN BJ Benin
BES BQ Bonaire, Sint Eustatius and Saba | Caribbean Netherlands
BFA BF Burkina Faso
BGD BD Bangladesh
BGR BG Bulgaria
BHR BH Bahrain
BHS BS Bahamas | Bahamas, The | The Bahamas
BIH BA Bosnia and Herzegovina | Bosnia & Herzegovina
BLM BL Saint Barthélemy | St. Barthélemy | Saint Barthelemy
BLR BY Belarus
BLZ BZ Belize
BMU BM Bermuda
BOL BO Bolivia, Plurinational State of | Bolivia | Bolivia (Plurinational State of)
BRA BR Brazil
BRB BB Barbados
BRN BN Brunei Darussalam | Brunei
BTN BT Bhutan
BVT BV Bouvet Island
BWA BW Botswana
CAF CF Central African Republic
CAN CA Canada
CCK CC Cocos (Keeling) Islands
CHE CH Switzerland
CHL CL Chile
CHN CN China | People's Republic of China | PRC | Mainland China
CIV CI Côte d'Ivoire | Côte d’Ivoire | Cote d'Ivoire | Ivory Coast
CMR CM Cameroon
COD CD Congo, The Democratic Republic of the | Congo - Kinshasa | Congo, Dem. Rep. | DR Congo | D.R. Congo | DRC
COD CD Democratic Republic of the Congo | Congo (Kinshasa) | Congo-Kinshasa | Congo (Democratic Republic of the)
COD CD Zaire
COG CG Congo - Brazzaville | Congo, Rep. | Republic of the Congo | Congo (Brazzaville) | Congo-Brazzaville
COK CK Cook Islands
COL CO Colombia
COM KM Comoros
CPV CV Cabo Verde | Cape Verde
CRI CR Costa Rica
CUB CU Cuba
CUW CW Curaçao | Curacao
CXR CX Christmas Island
CYM KY Cayman Islands
CYP CY Cyprus
CZE CZ Czechia | Czech Republic
DEU DE Germany
DJI DJ Djibouti
DMA DM Dominica
DNK DK Denmark
DOM DO Dominican Republic
DZA DZ Algeria
ECU EC Ecuador
EGY EG Egypt | Egypt, Arab Rep.
ERI ER Eritrea
ESH EH Western Sahara
ESP ES Spain
EST EE Estonia
ETH ET Ethiopia
FIN FI Finland
FJI FJ Fiji
FLK FK Falkland Islands (Malvinas) | Falkland Islands
FRA FR France
FRO FO Faroe Islands
FSM FM Micronesia, Federated States of | Micronesia | Micronesia, Fed. Sts.
GAB GA Gabon
GBR GB United Kingdom | UK | U.K. | Great Britain | United Kingdom of Great Britain and Northern Ireland
GEO GE Georgia
GGY GG Guernsey
GHA GH Ghana
GIB GI Gibraltar
GIN GN Guinea
GLP GP Guadeloupe
GMB GM Gambia | Gambia, The | The Gambia
GNB GW Guinea-Bissau
GNQ GQ Equatorial Guinea
GRC GR Greece
GRD GD Grenada
GRL GL Greenland
GTM GT Guatemala
GUF GF French Guiana
GUM GU Guam
GUY GY Guyana
HKG HK Hong Kong | Hong Kong SAR China | Hong Kong SAR, China | Hong Kong SAR
HMD HM Heard Island and McDonald Islands | Heard Island & McDonald Islands
HND HN Honduras
HRV HR Croatia
HTI HT Haiti
HUN HU Hungary
IDN ID Indonesia
IMN IM Isle of Man
IND IN India
IOT IO British Indian Ocean Territory
IRL IE Ireland
IRN IR Iran, Islamic Republic of | Iran | Iran, Islamic Rep. | Iran (Islamic Republic of)
IRQ IQ Iraq
ISL IS Iceland
ISR IL Israel
ITA IT Italy
JAM JM Jamaica
JEY JE Jersey
JOR JO Jordan
JPN JP Japan
KAZ KZ Kazakhstan
KEN KE Kenya
KGZ KG Kyrgyzstan | Kyrgyz Republic
KHM KH Cambodia
KIR KI Kiribati
KNA KN Saint Kitts and Nevis | St. Kitts & Nevis
KOR KR Korea, Republic of | South Korea | S Korea | S. Korea | Republic of Korea | Korea, Rep. | Korea (Republic of)
KOR KR Korea, South
KWT KW Kuwait
LAO LA Lao People's Democratic Republic | Laos | Lao PDR
LBN LB Lebanon
LBR LR Liberia
LBY LY Libya
LCA LC Saint Lucia | St. Lucia
LIE LI Liechtenstein
LKA LK Sri Lanka
LSO LS Lesotho
LTU LT Lithuania
LUX LU Luxembourg
LVA LV Latvia
MAC MO Macao | Macao SAR China | Macau | Macao SAR, China
MAF MF Saint Martin (French part) | St. Martin
MAR MA Morocco
MCO MC Monaco
MDA MD Moldova, Republic of | Moldova
MDG MG Madagascar
MDV MV Maldives
MEX MX Mexico
MHL MH Marshall Islands
MKD MK North Macedonia | Macedonia
MLI ML Mali
MLT MT Malta
MMR MM Myanmar | Myanmar (Burma) | Burma
MNE ME Montenegro
MNG MN Mongolia
MNP MP Northern Mariana Islands
MOZ MZ Mozambique
MRT MR Mauritania
MSR MS Montserrat
MTQ MQ Martinique
MUS MU Mauritius
MWI MW Malawi
MYS MY Malaysia
MYT YT Mayotte
NAM NA Namibia
NCL NC New Caledonia
NER NE Niger
NFK NF Norfolk Island
NGA NG Nigeria
NIC NI Nicaragua
NIU NU Niue
NLD NL Netherlands | Holland | The Netherlands
NOR NO Norway
NPL NP Nepal
NRU NR Nauru
NZL NZ New Zealand
OMN OM Oman
PAK PK Pakistan
PAN PA Panama
PCN PN Pitcairn | Pitcairn Islands
PER PE Peru
PHL PH Philippines | The Philippines
PLW PW Palau
PNG PG Papua New Guinea
POL PL Poland
PRI PR Puerto Rico
PRK KP Korea, Democratic People's Republic of | North Korea | N Korea | N. Korea | DPRK | Korea, Dem. Rep.
PRK KP Korea, Dem. People's Rep. | Korea (Democratic People's Republic of) | Korea, North
PRT PT Portugal
PRY PY Paraguay
PSE PS Palestine, State of | Palestinian Territories | Palestine | West Bank and Gaza | Palestinian Territory
PYF PF French Polynesia
QAT QA Qatar
REU RE Réunion | Reunion
ROU RO Romania
RUS RU Russian Federation | Russia
RWA RW Rwanda
SAU SA Saudi Arabia
SDN SD Sudan
SEN SN Senegal
SGP SG Singapore
SGS GS South Georgia and the South Sandwich Islands | South Georgia & South Sandwich Islands
SHN SH Saint Helena, Ascension and Tristan da Cunha | St. Helena, Ascension & Tristan da Cunha
SJM SJ Svalbard and Jan Mayen | Svalbard & Jan Mayen
SLB SB Solomon Islands
SLE SL Sierra Leone
SLV SV El Salvador
SMR SM San Marino
SOM SO Somalia
SPM PM Saint Pierre and Miquelon | St. Pierre & Miquelon
SRB RS Serbia
SSD SS South Sudan
STP ST Sao Tome and Principe | São Tomé & Príncipe | São Tomé and Príncipe
SUR SR Suriname
SVK SK Slovakia | Slovak Republic
SVN SI Slovenia
SWE SE Sweden
SWZ SZ Eswatini | Swaziland
SXM SX Sint Maarten (Dutch part) | Sint Maarten
SYC SC Seychelles
SYR SY Syrian Arab Republic | Syria
TCA TC Turks and Caicos Islands | Turks & Caicos Islands
TCD TD Chad
TGO TG Togo
THA TH Thailand
TJK TJ Tajikistan
TKL TK Tokelau
TKM TM Turkmenistan
TLS TL Timor-Leste | East Timor
TON TO Tonga
TTO TT Trinidad and Tobago | Trinidad & Tobago
TUN TN Tunisia
TUR TR Türkiye | Turkey | Turkiye
TUV TV Tuvalu
TWN TW Taiwan, Province of China | Taiwan
TZA TZ Tanzania, United Republic of | Tanzania
UGA UG Uganda
UKR UA Ukraine
UMI UM United States Minor Outlying Islands | U.S. Outlying Islands
URY UY Uruguay
USA US United States | U.S. | U.S.A. | United States of America | the United States
UZB UZ Uzbekistan
VAT VA Holy See (Vatican City State) | Vatican City | Vatican | Holy See
VCT VC Saint Vincent and the Grenadines | St. Vincent & Grenadines
VEN VE Venezuela, Bolivarian Republic of | Venezuela | Venezuela, RB | Venezuela (Bolivarian Republic of)
VGB VG Virgin Islands, British | British Virgin Islands
VIR VI Virgin Islands, U.S. | U.S. Virgin Islands | US Virgin Islands | Virgin Islands (U.S.)
VNM VN Viet Nam | Vietnam
VUT VU Vanuatu
WLF WF Wallis and Futuna | Wallis & Futuna
WSM WS Samoa
YEM YE Yemen | Yemen, Rep.
ZAF ZA South Africa
ZMB ZM Zambia
ZWE ZW Zimbabwe
"""


def _read_table() -> tuple[dict[str, str], dict[str, str]]:
    names: dict[str, str] = {}
    codes: dict[str, str] = {}
    for line in _TABLE.strip().splitlines():
        alpha3, alpha2, written = line.split(" ", 2)
        codes[alpha2] = codes[alpha3] = alpha3
        names.update(dict.fromkeys((name.strip().casefold() for name in written.split("|")), alpha3))
    return names, codes


_NAMES, _CODES = _read_table()


def country_code(name: str) -> str:
    """The alpha-3 code of a country's name, alpha-2 or alpha-3 code (codes in capitals). "NA" is Namibia.

    Raises UserError for a name that is ambiguous, with its candidates, and for one that is not in the table.
    """
    text = tidy(name)
    if text in _CODES:
        return _CODES[text]
    folded = text.casefold()
    if folded in _AMBIGUOUS:
        raise UserError(
            f"The country {name!r} may be {' or '.join(_AMBIGUOUS[folded])}; write one of these codes instead."
        )
    if folded not in _NAMES:
        raise UserError(
            f"The country {name!r} is not a name or code of ISO 3166 that is known here; write its alpha-3 code, or "
            "keep the names as they are with country_names='as given'."
        )
    return _NAMES[folded]
