import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A question to a server whether it knows a token, for the body of `/cacerts`. Good for one answer. */
export interface ProofQuestion {
  /** They hold a hash of the token, and a number that was never used before. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parts of them that no message may repeat. */
  readonly secrets: readonly string[];
  /** Judges the header `X-Cattle-Hash` of the answer. A server that does not know the token sends none. */
  judge(body: Uint8Array, hash: string | undefined): 'right' | 'wrong' | 'missing';
}

/**
 * Asks for Rancher's proof: `X-Cattle-Hash` is base64 of HMAC-SHA-512 with the token as its key over the nonce, a zero byte, the body, and
 * a zero byte. What leaves the node is `Authorization: Bearer` with base64 of the token's SHA-256.
 */
export function askForProof(token: string): ProofQuestion {
  const nonce = randomBytes(32).toString('hex');
  const hashed = createHash('sha256').update(token).digest('base64');
  return {
    headers: { authorization: `Bearer ${hashed}`, 'x-cattle-nonce': nonce },
    secrets: [hashed],
    judge(body, hash) {
      if (hash === undefined || hash === '') return 'missing';
      const found = Buffer.from(hash, 'base64');
      const wanted = proofOf(token, nonce, body);
      const isRight = found.length === wanted.length && timingSafeEqual(found, wanted);
      return isRight ? 'right' : 'wrong';
    },
  };
}

/** The answer of a server that knows the token. */
export function proofOf(token: string, nonce: string, body: Uint8Array): Buffer {
  const zero = Buffer.from([0]);
  return createHmac('sha512', token).update(nonce).update(zero).update(body).update(zero).digest();
}
