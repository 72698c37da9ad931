import { createDiagnostics, DiagnosticsError } from '@wins/diagnostics';

const diagnostics = createDiagnostics();
const given = new AbortController();
const long = diagnostics.stacks({ seconds: 60, signal: given.signal });
try {
  // One of each kind at a time.
  await diagnostics.stacks({ seconds: 0.1 });
} catch (error) {
  if (!(error instanceof DiagnosticsError)) throw error;
  console.log(error.code);
}
given.abort();
await long.catch(() => console.log('given up'));

const text = await diagnostics.stacks({ seconds: 0.1 });
console.log(text.split('\n')[0]);

const pieces: Buffer[] = [];
for await (const piece of diagnostics.cpu({ seconds: 0.1 })) pieces.push(piece);
const profile = JSON.parse(String(Buffer.concat(pieces))) as { samples: number[] };
console.log(profile.samples.length > 0);
console.log('environmentVariables' in (JSON.parse(diagnostics.report()) as object));
