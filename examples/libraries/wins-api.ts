import { runProcess, WinsClientError } from '@wins/wins-api';

const path = process.argv[2] ?? '/opt/tools/hello';
try {
  const { exitCode, signal, reason } = await runProcess({
    path,
    args: ['you'],
    onStdout: (chunk) => void process.stdout.write(chunk),
    onStderr: (chunk) => void process.stderr.write(chunk),
  });
  console.log({ exitCode, signal, reason });
} catch (error) {
  if (!(error instanceof WinsClientError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}
