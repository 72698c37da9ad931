/** Source of ports that containers publish. Loaded when the config relays them. */
import { containerFeed, Source, type DesiredPort, type SourceOptions } from '@wins/host-network';
import type { HostMetadataSettings } from '@wins/config';

/** Keeps no report across a restart, because another container may get the address meanwhile. */
export function followContainers(
  settings: HostMetadataSettings,
  listener: Pick<SourceOptions, 'onChange' | 'onWarning'>,
): Source<DesiredPort> {
  return new Source({ feed: containerFeed(settings), ...listener });
}
