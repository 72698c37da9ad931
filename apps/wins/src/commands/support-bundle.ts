import { command } from '../command-line/command.js';
import { server } from '../load-applications.js';
import { configOption, textOutput } from './daemon-options.js';

export const supportBundle = command({
  name: 'support-bundle',
  summary: 'Write an archive for support: facts about this node, without secrets',
  details:
    'Contains config, log, findings of the doctor, events, versions, service, network and pipes. A member that cannot be collected holds the reason instead. The file must not exist; only administrators can read it.',
  page: 'observability.md',
  positional: { name: 'file', describe: 'the archive to write, a .tar.gz', completes: 'files' },
  options: { config: configOption, output: textOutput },
  examples: [['support-bundle node-7.tar.gz', 'the node of this host']],
  run: (values, { word }, more) => server().makeSupportBundle({ ...values, file: word }, more),
});
