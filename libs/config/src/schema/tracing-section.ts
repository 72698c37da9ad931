import { isPlainAddress } from '@wins/wins-program';
import { about } from './notation.js';
import { section, someText } from './value-schemas.js';

const ADDRESS =
  'an address such as http://127.0.0.1:4318, without user, password, query and fragment';

/** `tracing`. */
export function tracingSection() {
  return section({
    endpoint: someText(ADDRESS)
      .refine(isPlainAddress, { error: ADDRESS })
      .meta(
        about('Collector that takes spans by OTLP over HTTP: http://127.0.0.1:4318.', {
          absent: 'required',
          isSecret: true,
          shown: 'address',
        }),
      ),
  })
    .meta(
      about('Traces of the calls of clients that trace. Absent: no span is made or sent.', {
        absent: 'off',
      }),
    )
    .optional();
}
