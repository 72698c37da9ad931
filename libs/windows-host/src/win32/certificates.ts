import { systemLibrary } from './calls/system-library.js';

/** The stores of certificates. Their pages: https://learn.microsoft.com/windows/win32/api/wincrypt */
export const certificateStores = systemLibrary('crypt32.dll', [
  'void *CertOpenStore(intptr_t provider, uint32_t encoding, intptr_t crypto, uint32_t flags, str16 name)',
  'int CertCloseStore(void *store, uint32_t flags)',
  'void *CertEnumCertificatesInStore(void *store, void *previous)',
  'int CertAddEncodedCertificateToStore(void *store, uint32_t encoding, void *bytes, uint32_t size, uint32_t disposition, void *out)',
  'void *CertDuplicateCertificateContext(void *certificate)',
  'int CertFreeCertificateContext(void *certificate)',
  'int CertControlStore(void *store, uint32_t flags, uint32_t control, void *parameter)',
  'int CertDeleteCertificateFromStore(void *certificate)',
]);
