import { parseListenAddress } from '@wins/wins-program';
import { about } from './notation.js';
import { flag, section, shown, someText } from './value-schemas.js';

const ADDRESS = 'an IP address and a port, such as 127.0.0.1:9797';
const LOOPBACK = 'an address of the loopback, or allowRemote: true';

/** `metrics`. */
export function metricsSection() {
  return section({
    listen: shown(someText(ADDRESS))
      .refine((text) => parseListenAddress(text) !== undefined, { error: ADDRESS })
      .meta(
        about('Where metrics are served over HTTP: 127.0.0.1:9797.', {
          absent: 'required',
        }),
      ),
    allowRemote: flag()
      .meta(about('Serve metrics on an address that others on the network may reach.'))
      .default(false),
  })
    .refine(
      ({ listen, allowRemote }) => allowRemote || parseListenAddress(listen)?.isLoopback !== false,
      { error: LOOPBACK, path: ['listen'] },
    )
    .meta(
      about('Metrics for Prometheus. Absent: none are kept, and no port is opened.', {
        absent: 'off',
      }),
    )
    .optional();
}
