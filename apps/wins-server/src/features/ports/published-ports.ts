/** Source of ports that containers publish. Loaded when the config relays them. */
import { containerFeed, Source, type DesiredPort, type SourceOptions } from '@wins/host-network';
import type { HostMetadataSettings } from '@wins/config';

/** Ignores reports from before the start, because another container may have got the address since then. */
export function followContainers(
  settings: HostMetadataSettings,
  listener: Pick<SourceOptions, 'onChange' | 'onWarning'>,
): Source<DesiredPort> {
  return new Source({ feed: containerFeed(settings), ...listener });
}
