import { textOption } from '../../command-line/option.js';
import { configOption } from '../daemon-options.js';

/** Every command of `wins srv` has them. */
export const inherits = { config: configOption };

/** Those of a question to the running daemon. */
export const ofDaemon = {
  server: textOption("Name or path of the daemon's pipe (default: that of the config)", {
    placeholder: 'PIPE',
    completes: 'nothing',
  }),
} as const;
