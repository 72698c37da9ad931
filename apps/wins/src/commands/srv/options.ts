import { textOption } from '../../command-line/option.js';

/** Every command of `wins srv` has them. */
export const inherits = {
  config: textOption(
    'Config file, which must exist (default: c:/etc/rancher/wins/config on Windows, /etc/rancher/wins/config elsewhere, which may be absent)',
    {
      placeholder: 'FILE',
      completes: 'files',
    },
  ),
};

/** Those of a question to the running daemon. */
export const ofDaemon = {
  server: textOption("Name or path of the daemon's pipe; default: that of the config", {
    placeholder: 'PIPE',
    completes: 'nothing',
  }),
} as const;
