import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Challenge for a server to prove that it knows a token. Use each challenge for one answer only. */
export interface ProofQuestion {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Judges the header `X-Cattle-Hash`. A server that does not know the token sends no such header. */
  judge(body: Uint8Array, hash: string | undefined): 'right' | 'wrong' | 'missing';
}

/**
 * Expects Rancher's proof in `X-Cattle-Hash`: base64(HMAC-SHA-512(token, nonce + 0x00 + body + 0x00)).
 * Sends only the base64 of the token's SHA-256.
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

export function proofOf(token: string, nonce: string, body: Uint8Array): Buffer {
  const zero = Buffer.from([0]);
  return createHmac('sha512', token).update(nonce).update(zero).update(body).update(zero).digest();
}
