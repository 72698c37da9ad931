import { textOption } from '../../command-line/option.js';
import { configOption } from '../daemon-options.js';

export const inherits = { config: configOption };

export const ofDaemon = {
  server: textOption("Name or path of the daemon's pipe (default: that of the config)", {
    placeholder: 'PIPE',
  }),
} as const;
