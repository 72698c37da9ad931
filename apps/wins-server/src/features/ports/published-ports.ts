/** Source of ports that containers publish. Loaded if the config enables relaying. */
import { containerFeed, Source, type DesiredPort, type SourceOptions } from '@wins/host-network';
import type { HostMetadataSettings } from '@wins/config';

/** Omits `lastGood`, so that no port is stored for the next start: by then, another container may have the address. */
export function followContainers(
  settings: HostMetadataSettings,
  listener: Pick<SourceOptions, 'onChange' | 'onWarning'>,
): Source<DesiredPort> {
  return new Source({ feed: containerFeed(settings), ...listener });
}
