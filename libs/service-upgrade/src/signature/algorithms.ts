import { constants, verify, type KeyObject } from 'node:crypto';
import { RSASSAPSSParams, type AlgorithmIdentifier } from 'pkijs';

/** Hash functions without known forgeries, by Node's name. */
export type Hash = 'sha256' | 'sha384' | 'sha512';

const HASHES: Readonly<Partial<Record<string, Hash>>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

interface Scheme {
  readonly key: 'rsa' | 'ec' | 'pss';
  /** Absent if the identifier leaves the hash function to the message. */
  readonly hash?: Hash;
}

const RSA_PSS = '1.2.840.113549.1.1.10';
const SCHEMES: Readonly<Partial<Record<string, Scheme>>> = {
  '1.2.840.113549.1.1.1': { key: 'rsa' },
  '1.2.840.113549.1.1.11': { key: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { key: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { key: 'rsa', hash: 'sha512' },
  // Windows names only the key type of an elliptic curve.
  '1.2.840.10045.2.1': { key: 'ec' },
  '1.2.840.10045.4.3.2': { key: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { key: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { key: 'ec', hash: 'sha512' },
};

/** Undefined for a hash function weaker than SHA-256. */
export function hashOf({ algorithmId }: AlgorithmIdentifier): Hash | undefined {
  return HASHES[algorithmId];
}

/** Whether the algorithm of a certificate's own signature is as strong as SHA-256. */
export function isStrong(algorithm: AlgorithmIdentifier): boolean {
  return schemeOf(algorithm)?.hash !== undefined;
}

export interface SignedBytes {
  readonly algorithm: AlgorithmIdentifier;
  /** Hash function of the message. */
  readonly hash: Hash;
  readonly data: Uint8Array;
  readonly signature: Uint8Array;
}

/** @throws Error for an algorithm that is unknown, or weaker than SHA-256. */
export function verifies({ algorithm, hash, data, signature }: SignedBytes, key: KeyObject) {
  const scheme = schemeOf(algorithm);
  if (scheme === undefined) throw new Error(`its algorithm is ${algorithm.algorithmId}`);
  const type = key.asymmetricKeyType;
  const fits =
    type === scheme.key || (scheme.key === 'pss' && ['rsa', 'rsa-pss'].includes(type ?? ''));
  if (!fits) return false;
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: saltOf(algorithm) };
  const options = scheme.key === 'pss' ? { key, ...pss } : key;
  return verify(scheme.hash ?? hash, data, options, signature);
}

function schemeOf(algorithm: AlgorithmIdentifier): Scheme | undefined {
  if (algorithm.algorithmId !== RSA_PSS) return SCHEMES[algorithm.algorithmId];
  const hash = hashOf(pssOf(algorithm).hashAlgorithm);
  return hash && { key: 'pss', hash };
}

function saltOf(algorithm: AlgorithmIdentifier): number | undefined {
  return algorithm.algorithmId === RSA_PSS ? pssOf(algorithm).saltLength : undefined;
}

/** Absent parameters mean SHA-1. */
function pssOf({ algorithmParams }: AlgorithmIdentifier): RSASSAPSSParams {
  return algorithmParams === undefined
    ? new RSASSAPSSParams()
    : new RSASSAPSSParams({ schema: algorithmParams as unknown });
}
