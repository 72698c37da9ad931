import { isDeepStrictEqual } from 'node:util';
import { generateMessage } from '../protobuf-fields.mjs';

/** Checks that every decoder of the contract either throws, or returns a message whose encoding is stable. */
export async function openGrpc({ definitions }) {
  const decoders = new Map();
  for (const { path, ...method } of definitions.flatMap((all) => Object.values(all))) {
    const { requestSerialize, requestDeserialize, responseSerialize, responseDeserialize } = method;
    decoders.set(`${path} request`, [requestDeserialize, requestSerialize]);
    decoders.set(`${path} response`, [responseDeserialize, responseSerialize]);
  }
  const kinds = [...decoders.keys()];
  return {
    name: 'grpc',
    generate: (rng) => ({
      kind: rng.choose([3, () => rng.pick(kinds)], [1, () => '/wins.ProcessService/Start request']),
      steps: generateMessage(rng),
    }),
    run({ kind, steps }) {
      const octets = Buffer.from(steps.join(''), 'hex');
      const [decode, encode] = decoders.get(kind);
      const message = understood(() => decode(octets));
      if (message !== undefined) {
        // Do not compare `message` itself with `sentOn`. Decoding replaces invalid UTF-8 with longer text, so the first encoding may exceed a
        // size limit of its decoder. In that case, the decoder returns another text. Every further encoding must decode to the same message.
        const sentOn = decode(encode(message));
        if (!isDeepStrictEqual(decode(encode(sentOn)), sentOn))
          throw new Error('encoding a decoded message again changes it');
      }
    },
    close: () => undefined,
  };
}

function understood(decode) {
  try {
    return decode();
  } catch (error) {
    const isOfMessage =
      error instanceof Error && !(error instanceof TypeError) && !/call stack/.test(error.message);
    if (isOfMessage) return undefined;
    throw error;
  }
}
