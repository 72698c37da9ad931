import { call } from '../win32/calls/call.js';
import { loadKoffi, systemLibrary } from '../win32/calls/system-library.js';
import { CERT_CONTEXT } from '../win32/structures.js';
import * as items from './node-store.js';

/** HCERTSTORE and PCCERT_CONTEXT. */
type CertificateHandle = bigint;

const CERT_STORE_PROV_SYSTEM_W = 10;
/** CERT_SYSTEM_STORE_LOCAL_MACHINE, and the flag that the store must exist. */
const STORE_OF_MACHINE = 0x2_0000 | 0x4000;
const X509_ASN_ENCODING = 1;
const CERT_STORE_CTRL_COMMIT = 3;
/** Keeps an existing certificate, with its properties. */
const CERT_STORE_ADD_USE_EXISTING = 2;
/** Certificates that the whole machine trusts, by the SHA-256 of their DER form. */
export function rootCertificates(): items.ContentStore<
  { readonly sha256: string },
  items.Presence
> {
  return {
    read: ({ sha256 }) => items.presence(withCertificate(sha256, () => true) === true),
    write: async ({ sha256 }, state, content) => {
      if (state !== undefined) {
        add(await items.contentIn(content, sha256));
        return;
      }
      withCertificate(sha256, (certificate, store) => {
        // Duplicate the context: the removal frees one reference, and `withCertificate` frees the other.
        const own = certificateStores.CertDuplicateCertificateContext(certificate);
        const { CertDeleteCertificateFromStore } = certificateStores;
        call(`cannot remove the certificate ${sha256}`, CertDeleteCertificateFromStore, own);
        commit(store);
      });
    },
    keep: async ({ sha256 }, file) => {
      const bytes = withCertificate(sha256, (found) => encodedBytes(found));
      if (bytes === undefined) throw items.refused(`cannot keep the certificate ${sha256}`, 'none');
      await items.keepBytes(file, bytes);
    },
  };
}

function add(der: Buffer): void {
  withStore((store) => {
    const { CertAddEncodedCertificateToStore: add } = certificateStores;
    const how = CERT_STORE_ADD_USE_EXISTING;
    const tried = `cannot add the certificate ${items.digestOf(der)} to the root store of the machine`;
    call(tried, add, store, X509_ASN_ENCODING, der, der.length, how, null);
    commit(store);
  });
}

/** Stores the changes, even while other programs have the store open. */
function commit(store: CertificateHandle): void {
  const { CertControlStore } = certificateStores;
  const tried = 'cannot write the root store of the machine';
  call(tried, CertControlStore, store, 0, CERT_STORE_CTRL_COMMIT, null);
}

function encodedBytes(certificate: CertificateHandle): Buffer {
  const { pbCertEncoded, cbCertEncoded } = CERT_CONTEXT.read(certificate);
  return Buffer.from(loadKoffi().decode(pbCertEncoded, 'uint8_t', cbCertEncoded) as Uint8Array);
}

/** Keeps the store open during `action`. Undefined when the certificate is absent. */
function withCertificate<T>(
  sha256: string,
  action: (certificate: CertificateHandle, store: CertificateHandle) => T,
): T | undefined {
  return withStore((store) => {
    const { CertEnumCertificatesInStore, CertFreeCertificateContext } = certificateStores;
    let at: CertificateHandle | null = null;
    // Each call frees the previous context.
    while ((at = CertEnumCertificatesInStore(store, at)) !== null) {
      if (items.digestOf(encodedBytes(at)) !== sha256) continue;
      try {
        return action(at, store);
      } finally {
        CertFreeCertificateContext(at);
      }
    }
    return undefined;
  });
}

function withStore<T>(action: (store: CertificateHandle) => T): T {
  const { CertOpenStore, CertCloseStore } = certificateStores;
  const [provider, flags] = [CERT_STORE_PROV_SYSTEM_W, STORE_OF_MACHINE];
  const tried = 'cannot open the root store of the machine';
  const store = call(tried, CertOpenStore, provider, 0, 0, flags, 'Root');
  try {
    return action(store);
  } finally {
    CertCloseStore(store, 0);
  }
}

/** https://learn.microsoft.com/windows/win32/api/wincrypt */
const certificateStores = systemLibrary('crypt32.dll', 'Windows', [
  'void *CertOpenStore(intptr_t provider, uint32_t encoding, intptr_t crypto, uint32_t flags, str16 name)',
  'int CertCloseStore(void *store, uint32_t flags)',
  'void *CertEnumCertificatesInStore(void *store, void *previous)',
  'int CertAddEncodedCertificateToStore(void *store, uint32_t encoding, void *bytes, uint32_t size, uint32_t disposition, void *out)',
  'void *CertDuplicateCertificateContext(void *certificate)',
  'int CertFreeCertificateContext(void *certificate)',
  'int CertControlStore(void *store, uint32_t flags, uint32_t control, void *parameter)',
  'int CertDeleteCertificateFromStore(void *certificate)',
]);
