import { connectPipe, listenPipe } from '@wins/pipe-transport';
import { pipeContract } from '@wins/pipe-transport/testing';
import { securedPipe, securedPipeClient } from '@wins/windows-host';
import { describe, it } from 'node:test';

let count = 0;
const freshName = (): string => `wins-contract-${process.pid}-${(count += 1)}`;
const isWine = process.env['WINEPREFIX'] !== undefined;
const security = securedPipe();

describe('a named pipe under the contract of pipes', () => {
  const contract = pipeContract({
    listen: (name, options) => listenPipe(name, { security, ...options }),
    connect: (name, options) => connectPipe(name, options),
    freshName,
    halfClose: false,
    // Wine lacks the flag that reserves the name of a pipe for one server.
    exclusiveNames: !isWine,
  });
  for (const [name, check] of contract) it(name, check);
});

describe('a named pipe whose server is checked, under the contract of pipes', () => {
  const client = securedPipeClient();
  const contract = pipeContract({
    listen: (name, options) => listenPipe(name, { security, ...options }),
    connect: (name, options) => connectPipe(name, { security: client, ...options }),
    freshName,
    halfClose: false,
    exclusiveNames: !isWine,
  });
  for (const [name, check] of contract) it(name, check);
});
