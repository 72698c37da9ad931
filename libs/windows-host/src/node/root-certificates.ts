import {
  CERT_STORE_ADD_USE_EXISTING,
  CERT_STORE_CTRL_COMMIT,
  CERT_STORE_OPEN_EXISTING_FLAG,
  CERT_STORE_PROV_SYSTEM_W,
  CERT_SYSTEM_STORE_LOCAL_MACHINE,
  certificateStores,
  X509_ASN_ENCODING,
  type CertificateHandle,
} from '../win32/certificates.js';
import { check } from '../win32/kernel32.js';
import { refused } from './node-access.js';
import { contentIn, digestOf, keepBytes } from './node-content.js';
import { presence, type ContentRoom, type Presence } from './node-room.js';

/** Certificates that the whole machine trusts, by the SHA-256 of their DER form. */
export function rootCertificates(): ContentRoom<{ readonly sha256: string }, Presence> {
  return {
    read: ({ sha256 }) => presence(withCertificate(sha256, () => true) === true),
    write: async ({ sha256 }, state, content) => {
      if (state !== undefined) {
        add(await contentIn(content, sha256));
        return;
      }
      withCertificate(sha256, (certificate, store) => {
        const { CertDuplicateCertificateContext, CertDeleteCertificateFromStore } =
          certificateStores();
        // It is freed by its removal, and by the search.
        const own = CertDuplicateCertificateContext(certificate);
        const isGone = CertDeleteCertificateFromStore(own) !== 0;
        check(isGone, 'CertDeleteCertificateFromStore', `removed the certificate ${sha256}`);
        commit(store);
      });
    },
    keep: async ({ sha256 }, file) => {
      const bytes = withCertificate(sha256, (found) => certificateStores().encodedBytes(found));
      if (bytes === undefined) throw refused(`kept the certificate ${sha256}`, 'none');
      await keepBytes(file, bytes);
    },
  };
}

function add(der: Buffer): void {
  withStore((store) => {
    const { CertAddEncodedCertificateToStore } = certificateStores();
    const how = CERT_STORE_ADD_USE_EXISTING;
    const isAdded =
      CertAddEncodedCertificateToStore(store, X509_ASN_ENCODING, der, der.length, how, null) !== 0;
    const tried = `added the certificate ${digestOf(der)} to the root store of the machine`;
    check(isAdded, 'CertAddEncodedCertificateToStore', tried);
    commit(store);
  });
}

/** Writes what was changed, whoever else has the store open. */
function commit(store: CertificateHandle): void {
  const isWritten =
    certificateStores().CertControlStore(store, 0, CERT_STORE_CTRL_COMMIT, null) !== 0;
  check(isWritten, 'CertControlStore', 'wrote the root store of the machine');
}

/** Works with a certificate while the store is open; undefined when it is not there. */
function withCertificate<T>(
  sha256: string,
  act: (certificate: CertificateHandle, store: CertificateHandle) => T,
): T | undefined {
  return withStore((store) => {
    const { CertEnumCertificatesInStore, CertFreeCertificateContext, encodedBytes } =
      certificateStores();
    let at: CertificateHandle | null = null;
    // Each call frees the one before.
    while ((at = CertEnumCertificatesInStore(store, at)) !== null) {
      if (digestOf(encodedBytes(at)) !== sha256) continue;
      try {
        return act(at, store);
      } finally {
        CertFreeCertificateContext(at);
      }
    }
    return undefined;
  });
}

function withStore<T>(act: (store: CertificateHandle) => T): T {
  const { CertOpenStore, CertCloseStore } = certificateStores();
  const flags = CERT_SYSTEM_STORE_LOCAL_MACHINE | CERT_STORE_OPEN_EXISTING_FLAG;
  const store = CertOpenStore(BigInt(CERT_STORE_PROV_SYSTEM_W), 0, 0, flags, 'Root');
  check(store !== null, 'CertOpenStore', 'opened the root store of the machine');
  try {
    return act(store as CertificateHandle);
  } finally {
    CertCloseStore(store as CertificateHandle, 0);
  }
}
