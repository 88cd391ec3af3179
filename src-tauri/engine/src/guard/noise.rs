//! Words that look like Jira keys and are standards, formats, protocols, devices, models or ordinals (G-05).
//!
//! The list is a default: a workspace may change it, and a project that has such a key is allowed by removing its line.

/// Prefixes, upper-case. Never PROJ, which the sources use as their example.
#[rustfmt::skip]
pub const NOISE_PREFIXES: &[&str] = &[
    // Character sets and encodings
    "UTF", "UCS", "ASCII", "ANSI", "LATIN", "KOI", "GB", "GBK", "BIG", "CP", "EBCDIC", "BASE", "EUC", "JIS", "SHIFT", "WINDOWS", "WIN",
    "UNICODE", "ISO", "IBM", "MAC",
    // Hashes, ciphers, checksums
    "SHA", "MD", "CRC", "AES", "DES", "RSA", "ECDSA", "ED", "HMAC", "BLAKE", "CHACHA", "BCRYPT", "SM", "RC", "PBKDF", "ARGON",
    "SECP", "CURVE", "DH", "DSA", "MURMUR", "XXH",
    // Standards bodies, proposals and advisories
    "RFC", "IEC", "IEEE", "ITU", "ECMA", "ES", "DIN", "BS", "JEP", "JSR", "PEP", "KIP", "PIP", "FLIP", "BIP", "EIP", "ERC",
    "SIP", "SPIP", "AIP", "FIP", "IEP", "HIP", "CIP", "TIP", "DSIP", "RIP", "SLIP", "GEP", "KEP", "CVE", "CWE", "CAPEC", "GHSA",
    "RHSA", "USN", "MSRC", "OWASP", "NIST", "FIPS", "SOC", "SOX", "PCI", "GDPR", "HIPAA", "ANSSI", "POSIX", "W3C", "WCAG",
    "ASTM", "EN", "ASME", "MIL", "FAR", "CFR", "STD", "BCP", "PKCS", "FIDO", "ISBN", "ISSN", "DOI", "MISRA", "CMMI",
    // Protocols and interfaces
    "HTTP", "HTTPS", "TLS", "SSL", "TCP", "UDP", "IPV", "IP", "IPSEC", "SSH", "FTP", "SFTP", "SMTP", "IMAP", "POP", "DNS", "LDAP",
    "SNMP", "OAUTH", "SAML", "OIDC", "JWT", "QUIC", "SPDY", "MQTT", "AMQP", "GRPC", "SOAP", "WS", "WSS", "BGP", "OSPF", "VLAN",
    "MPLS", "NTP", "RTP", "RTMP", "SOCKS", "USB", "RS", "RJ", "CAT", "HDMI", "VGA", "DVI", "PCIE", "SATA", "SAS", "SCSI", "NVME",
    "I2C", "SPI", "UART", "IDE", "WIFI", "WPA", "WEP", "BLE", "NFC", "RFID", "LTE", "GSM", "CDMA", "UMTS", "X25", "MODBUS",
    "THUNDERBOLT", "BLUETOOTH", "ETHERNET", "OC", "STM", "E1", "T1", "EIA", "TIA",
    // Formats and media
    "MP", "MPEG", "AVC", "HEVC", "AV", "VP", "JPEG", "JPG", "PNG", "GIF", "SVG", "PDF", "XML", "JSON", "YAML", "HTML", "XHTML", "CSS",
    "SQL", "CSV", "DVD", "CD", "BD", "VHS", "AAC", "FLAC", "OPUS", "WAV", "DTS", "AC", "EAC", "ID3", "ZIP", "LZ", "LZMA", "GZIP", "TAR",
    "DOCX", "EPUB", "PDFA", "DICOM", "HL", "FHIR", "EDI", "EAN", "UPC", "QR",
    // Languages, systems, products
    "JAVA", "JDK", "JRE", "JVM", "J2EE", "PYTHON", "NODE", "NODEJS", "PHP", "RUBY", "PERL", "GOLANG", "RUST", "KOTLIN", "SWIFT",
    "SCALA", "LUA", "CPP", "CXX", "GCC", "CLANG", "LLVM", "DOTNET", "ANGULAR", "REACT", "VUE", "LOG4J", "SPRING", "JUNIT",
    "ANDROID", "IOS", "IPADOS", "MACOS", "OSX", "OS", "LINUX", "UBUNTU", "DEBIAN", "FEDORA", "RHEL", "CENTOS", "SOLARIS", "AIX",
    "KERNEL", "MYSQL", "POSTGRES", "ORACLE", "REDIS", "EXCEL", "CHROME", "FIREFOX", "IE", "EDGE", "SAFARI",
    "GPT", "BERT", "LLAMA", "CLAUDE", "GEMINI", "MISTRAL", "QWEN", "DALL", "YOLO", "RESNET", "VGG", "T5", "GLM", "LLM", "PHI",
    "DEEPSEEK", "WHISPER", "SDXL", "RLHF", "ALEXNET", "CIFAR", "IMAGENET", "MNIST",
    // Hardware
    "ARM", "ARMV", "AMD", "INTEL", "X86", "AMD64", "SPARC", "MIPS", "RISC", "RISCV", "RTX", "GTX", "RX", "GPU", "CPU", "TPU",
    "DDR", "LPDDR", "GDDR", "SDRAM", "DIMM", "RAM", "ROM", "SSD", "HDD", "RAID", "LGA", "AM4", "PS", "PSP", "XBOX", "WII",
    "IPHONE", "IPAD", "GALAXY", "PIXEL", "WH", "WF", "VT", "PDP", "VAX", "LTO", "ESP", "STM32", "ATMEGA", "RPI", "PI", "ARDUINO", "LM",
    "NE", "BC", "AAA", "AA", "LR", "CMOS", "TTL", "EEPROM", "MOSFET", "LED", "OLED", "UHD", "HDR", "FPS",
    // Aircraft, vehicles, ships, missions
    "BOEING", "AIRBUS", "MIG", "SU", "TU", "IL", "DC", "CRJ", "ERJ", "EMB", "ATR", "CESSNA", "AK", "SR", "UH", "AH", "KC",
    "EF", "JAS", "MQ", "RQ", "USS", "HMS", "APOLLO", "SOYUZ", "STS", "VOYAGER", "ARIANE", "FALCON", "PSLV", "GSLV",
    "NGC", "PSR", "BMW", "AUDI", "MAZDA", "VW", "RAV", "SAE", "US", "HWY", "RTE", "M25",
    // Medicine, chemistry, biology
    "COVID", "SARS", "MERS", "COV", "HIV", "HPV", "HSV", "HBV", "HCV", "EBV", "H1N1", "H5N1", "TNF", "TP", "BRCA", "ICD",
    "DSM", "CO", "CAS", "OMEGA", "VITAMIN", "HBA", "IGG", "IGM", "MRNA", "SNP", "CRISPR", "PD", "GLP", "PH",
    // Places in a text, ordinals, dates
    "PART", "PHASE", "STEP", "STAGE", "LEVEL", "TIER", "TYPE", "CLASS", "TOP", "FIGURE", "FIG", "TABLE", "CHAPTER", "SECTION",
    "PAGE", "LINE", "ROW", "COLUMN", "ROOM", "GATE", "DAY", "WEEK", "MONTH", "YEAR", "FY", "CY", "Q1", "Q2", "Q3", "Q4", "QTR", "VERSION",
    "VER", "REV", "VOLUME", "VOL", "NO", "NUM", "OPTION", "APPENDIX", "ANNEX", "ROUND", "SEASON",
    "EPISODE", "LESSON", "GRADE", "AGE", "ZONE", "FLOOR", "BUILDING", "SUITE", "TERMINAL", "RUNWAY",
    "UTC", "GMT", "CET", "EST", "PST", "CST", "IST", "JST", "BST", "CHAPTERS", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG",
    "SEP", "SEPT", "OCT", "NOV", "DEC", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN",
    // Measures, scores, forms and groups of nations
    "AUC", "BLEU", "ROUGE", "TOEFL", "IELTS", "GMAT", "GRE", "HSK", "JLPT", "CEFR", "WD", "MH", "ELO", "RPM", "MPH", "KPH",
    "ARTICLE", "CLAUSE", "COP", "BRICS", "G7", "G20", "OPEC", "EU", "ASEAN",
    // Tracker words that are no project
    "PR", "PULL", "MR", "GH", "MINOR", "MAJOR", "PATCH",
    "KB",
];
