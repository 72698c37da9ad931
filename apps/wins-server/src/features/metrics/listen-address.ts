import { parseListenAddress, quoteText, type ListenAddress } from '@wins/wins-program';
import { FeatureError } from '../../kernel/feature-error.js';

/** Reads where to listen. @throws FeatureError `invalidAddress`; `remoteAddress` for one beside the loopback that is not allowed. */
export function requireListenAddress(text: string, allowRemote: boolean): ListenAddress {
  const address = parseListenAddress(text);
  const found = `cannot listen for metrics: found ${quoteText(text)}`;
  if (address === undefined) {
    const wanted = 'wanted an IP address and a port, such as 127.0.0.1:9797 or [::1]:9797';
    throw new FeatureError('invalidAddress', `${found}; ${wanted}`);
  }
  if (!allowRemote && !address.isLoopback) {
    const wanted = 'wanted an address of the loopback, or "allowRemote: true"';
    throw new FeatureError(
      'remoteAddress',
      `${found}, which others on the network may reach; ${wanted}`,
    );
  }
  return address;
}
