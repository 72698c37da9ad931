/** The certificates of a PEM text, each in DER. */
export function certificatesOf(pem: string): readonly Buffer[] {
  const blocks = pem.matchAll(
    /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g,
  );
  return [...blocks].map(([, base64 = '']) => Buffer.from(base64, 'base64'));
}
