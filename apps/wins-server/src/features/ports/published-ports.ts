/** The source of ports that containers publish. Loaded when the config has them relayed. */
import { containerFeed, Source, type DesiredPort, type SourceOptions } from '@wins/host-network';
import type { HostMetadataSettings } from '@wins/config';

/** Follows the containers of this host. The caller closes it. Nothing that was told before a start counts: an address may be another's. */
export function followContainers(
  settings: HostMetadataSettings,
  listener: Pick<SourceOptions, 'onChange' | 'onWarning'>,
): Source<DesiredPort> {
  return new Source({ feed: containerFeed(settings), ...listener });
}
