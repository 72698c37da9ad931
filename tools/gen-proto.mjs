// node tools/gen-proto.mjs [--check]
// Generates libs/wins-api/src/gen from libs/wins-api/proto: messages, services, and descriptors for gRPC reflection. With --check it writes to
// another folder, and fails when the committed files differ.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
const project = path.join(root, 'libs/wins-api');
const checking = process.argv[2] === '--check';

const committed = path.join(project, 'src', 'gen');
const out = checking ? mkdtempSync(path.join(tmpdir(), 'wins-proto-')) : committed;
const DESCRIPTORS = 'descriptors.ts';
const protoDir = path.join(project, 'proto');
const pluginSuffix = process.platform === 'win32' ? '.cmd' : '';
const plugin = path.join(root, 'node_modules', '.bin', `protoc-gen-ts_proto${pluginSuffix}`);
const options = [
  'env=node',
  'outputServices=grpc-js',
  'outputClientImpl=false',
  'esModuleInterop=true',
  'importSuffix=.js',
  'forceLong=bigint',
  'oneof=unions-value',
  'useOptionals=messages',
  'unrecognizedEnum=true',
  'useExactTypes=false',
  'outputJsonMethods=false',
  'outputTypeRegistry=false',
  'removeEnumPrefix=true',
  'snakeToCamel=false',
].join(',');

if (!checking) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
}
const protoc = require.resolve('protoc/protoc.cjs');
const result = spawnSync(
  process.execPath,
  [
    protoc,
    `--plugin=protoc-gen-ts_proto=${plugin}`,
    `--ts_proto_out=${out}`,
    `--ts_proto_opt=${options}`,
    `--descriptor_set_out=${path.join(out, DESCRIPTORS)}.bin`,
    '--include_imports',
    `--proto_path=${protoDir}`,
    ...readdirSync(protoDir)
      .filter((name) => name.endsWith('.proto'))
      .sort(),
  ],
  { stdio: 'inherit' },
);
if (result.status !== 0) process.exit(result.status ?? 1);

shareMessageFunctions();

const descriptorSet = path.join(out, `${DESCRIPTORS}.bin`);
writeFileSync(
  path.join(out, DESCRIPTORS),
  `// A google.protobuf.FileDescriptorSet of all proto files, base64.
export const FILE_DESCRIPTOR_SET =
  '${readFileSync(descriptorSet).toString('base64')}';
`,
);
rmSync(descriptorSet);

if (checking) {
  const read = (directory) =>
    new Map(
      readdirSync(directory)
        .sort()
        .map((name) => [name, readFileSync(path.join(directory, name), 'utf8')]),
    );
  const fresh = read(out);
  const kept = read(committed);
  rmSync(out, { recursive: true, force: true });
  const drifted = [...new Set([...fresh.keys(), ...kept.keys()])].filter(
    (name) => fresh.get(name) !== kept.get(name),
  );
  for (const name of drifted)
    console.error(
      `${path.relative(root, path.join(committed, name))} is outdated; run npm run generate`,
    );
  process.exit(drifted.length === 0 ? 0 : 1);
}

/** Moves helper functions, which the generator repeats in each file, into one file. */
function shareMessageFunctions() {
  const declared = /\ntype Builtin = (.*);\n\n([^]*?\n\}\n)/;
  let shared;
  for (const name of readdirSync(out).filter((one) => one.endsWith('.ts'))) {
    const file = path.join(out, name);
    const text = readFileSync(file, 'utf8');
    const [all, builtin = '', functions = ''] = declared.exec(text) ?? [];
    if (all === undefined || (shared ??= all) !== all)
      throw new Error(`${name}: its message functions differ from those of the other files`);
    const own = text.replace(all, '');
    const names = ['DeepPartial', 'MessageFns'].filter((one) => own.includes(one)).join(', ');
    const use = `import type { ${names} } from "./message-fns.js";\nimport `;
    writeFileSync(file, own.replace(/^import /m, use));
    const head = `// Made by tools/gen-proto.mjs of what protoc-gen-ts_proto writes. DO NOT EDIT.

/* eslint-disable */
import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";

`;
    const types = functions.replace('extends Builtin', `extends ${builtin}`);
    writeFileSync(path.join(out, 'message-fns.ts'), head + types);
  }
}
