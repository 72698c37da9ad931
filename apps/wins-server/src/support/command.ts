import { makeMember, type MadeMember } from './make-member.js';
import { writeNewPrivateFile } from '@wins/trusted-files';
import { escapeText, quoteText, withGivenOptions, type Answer } from '@wins/base';
import path from 'node:path';
import { thisDoctorHost } from '../doctor/this-doctor-host.js';
import { supportMembers } from './members.js';
import { supportSource } from './support-source.js';
import { thisSystem } from '../this-system.js';

const ERROR_FILE = /\.error\.txt$/;

export interface SupportBundleOptions {
  readonly file: string;
  readonly config?: string | undefined;
}

export async function makeSupportBundle(options: SupportBundleOptions): Promise<Answer> {
  const config = options.config === undefined ? undefined : path.resolve(options.config);
  await using host = thisDoctorHost(config, new Date(0));
  const source = await supportSource(config, host);
  const made: MadeMember[] = [];
  // One after another, because the node may be busy and all members query the same daemon.
  for (const member of supportMembers(source)) made.push(await makeMember(member, source.clean));
  const members = made.map(({ name, content, isCut, isFailure }) => ({
    name,
    bytes: content.length,
    isCut,
    isFailure,
  }));
  const file = path.resolve(options.file);
  const list = { name: 'members.json', content: Buffer.from(`${JSON.stringify(members)}\n`) };
  const { packMembers } = await import('./pack-members.js');
  const archive = await packMembers('wins-support', [list, ...made]);
  const { createPrivateFile: create } = thisSystem();
  await writeNewPrivateFile(file, (write) => write(archive, 0), { create });
  const missing = made.flatMap(({ name, content, isFailure }) => {
    const [why = ''] = withGivenOptions(content.toString(), options).split('\n');
    return isFailure ? [`  without ${name.replace(ERROR_FILE, '')}: ${escapeText(why)}\n`] : [];
  });
  return {
    value: { file, bytes: archive.length, members },
    text: `${quoteText(file)}: ${archive.length} bytes, ${members.length} members\n${missing.join('')}`,
    table: {
      headings: ['MEMBER', 'BYTES', 'CUT', 'FAILED'],
      rows: members.map(({ name, bytes, isCut, isFailure }) =>
        [name, bytes, isCut, isFailure].map(String),
      ),
    },
    names: [file],
  };
}
