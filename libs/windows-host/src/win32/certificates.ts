import { lazily, loadSystemLibrary } from './calls/system-library.js';

/** HCERTSTORE and PCCERT_CONTEXT. */
export type CertificateHandle = bigint;

export const CERT_STORE_PROV_SYSTEM_W = 10;
export const CERT_SYSTEM_STORE_LOCAL_MACHINE = 0x2_0000;
export const CERT_STORE_OPEN_EXISTING_FLAG = 0x4000;
export const X509_ASN_ENCODING = 1;
export const CERT_STORE_CTRL_COMMIT = 3;
/** What is there with its properties stays. */
export const CERT_STORE_ADD_USE_EXISTING = 2;

/** The stores of certificates. */
export const certificateStores = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('crypt32.dll');
  // https://learn.microsoft.com/windows/win32/api/wincrypt/ns-wincrypt-cert_context
  const context = koffi.struct({
    encoding: 'uint32_t',
    encoded: 'void *',
    encodedSize: 'uint32_t',
    information: 'void *',
    store: 'void *',
  });
  return {
    /** The DER form of a certificate. */
    encodedBytes: (certificate: CertificateHandle): Buffer => {
      const { encoded, encodedSize } = koffi.decode(certificate, context) as {
        encoded: bigint;
        encodedSize: number;
      };
      return Buffer.from(koffi.decode(encoded, 'uint8_t', encodedSize) as Uint8Array);
    },
    // https://learn.microsoft.com/windows/win32/api/wincrypt/nf-wincrypt-certopenstore
    CertOpenStore: bind<
      (
        provider: bigint,
        encoding: 0,
        crypto: 0,
        flags: number,
        name: string,
      ) => CertificateHandle | null
    >(
      'void *__stdcall CertOpenStore(intptr_t provider, uint32_t encoding, intptr_t crypto, uint32_t flags, str16 name)',
    ),
    // https://learn.microsoft.com/windows/win32/api/wincrypt/nf-wincrypt-certclosestore
    CertCloseStore: bind<(store: CertificateHandle, flags: 0) => number>(
      'int __stdcall CertCloseStore(void *store, uint32_t flags)',
    ),
    // https://learn.microsoft.com/windows/win32/api/wincrypt/nf-wincrypt-certenumcertificatesinstore
    CertEnumCertificatesInStore: bind<
      (store: CertificateHandle, previous: CertificateHandle | null) => CertificateHandle | null
    >('void *__stdcall CertEnumCertificatesInStore(void *store, void *previous)'),
    // https://learn.microsoft.com/windows/win32/api/wincrypt/nf-wincrypt-certaddencodedcertificatetostore
    CertAddEncodedCertificateToStore: bind<
      (
        store: CertificateHandle,
        encoding: number,
        bytes: Buffer,
        size: number,
        disposition: number,
        out: null,
      ) => number
    >(
      'int __stdcall CertAddEncodedCertificateToStore(void *store, uint32_t encoding, void *bytes, uint32_t size, uint32_t disposition, void *out)',
    ),
    // https://learn.microsoft.com/windows/win32/api/wincrypt/nf-wincrypt-certduplicatecertificatecontext
    CertDuplicateCertificateContext: bind<(certificate: CertificateHandle) => CertificateHandle>(
      'void *__stdcall CertDuplicateCertificateContext(void *certificate)',
    ),
    // https://learn.microsoft.com/windows/win32/api/wincrypt/nf-wincrypt-certfreecertificatecontext
    CertFreeCertificateContext: bind<(certificate: CertificateHandle) => number>(
      'int __stdcall CertFreeCertificateContext(void *certificate)',
    ),
    // https://learn.microsoft.com/windows/win32/api/wincrypt/nf-wincrypt-certcontrolstore
    CertControlStore: bind<
      (store: CertificateHandle, flags: 0, control: number, parameter: null) => number
    >(
      'int __stdcall CertControlStore(void *store, uint32_t flags, uint32_t control, void *parameter)',
    ),
    // https://learn.microsoft.com/windows/win32/api/wincrypt/nf-wincrypt-certdeletecertificatefromstore
    CertDeleteCertificateFromStore: bind<(certificate: CertificateHandle) => number>(
      'int __stdcall CertDeleteCertificateFromStore(void *certificate)',
    ),
  };
});
