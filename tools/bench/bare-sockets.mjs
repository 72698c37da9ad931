// A floor (a plainer program to compare with wins): sockets without a protocol. The first line of a connection names its command.
//   node bare-sockets.mjs serve SOCKET WRITER    serves on that Unix socket and on a port until killed; prints the port
//   node bare-sockets.mjs output ENDPOINT BYTES  has the server run WRITER with BYTES, and prints its output
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { portOf } from '../free-port.mjs';

const [command, endpoint, argument] = process.argv.slice(2);
if (command === 'serve') await serve(endpoint, argument);
if (command === 'output') output(endpoint, Number(argument));

/** Opens a connection that echoes all bytes. `to` is a path or a port. */
export async function echoConnection(to) {
  const socket = connectTo(to).setNoDelay(true);
  socket.write('echo\n');
  // Waits for the echo, so that the server cannot read later bytes as part of the first line.
  await once(socket, 'data');
  return socket;
}

function connectTo(to) {
  return /^\d+$/.test(to) ? connect(Number(to), '127.0.0.1') : connect(to);
}

async function serve(socket, writer) {
  const onConnection = (connection) => {
    connection.setNoDelay(true).on('error', () => connection.destroy());
    connection.once('data', (line) => {
      const [want, bytes] = line.toString().trim().split(' ');
      if (want === 'output') {
        spawn(writer, [bytes], { stdio: ['ignore', 'pipe', 'ignore'] }).stdout.pipe(connection);
      } else {
        connection.write(line);
        connection.pipe(connection);
      }
    });
  };
  await once(createServer(onConnection).listen(socket), 'listening');
  const tcp = createServer(onConnection).listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  console.log(`port ${portOf(tcp)}`);
}

function output(to, bytes) {
  const connection = connectTo(to);
  let received = 0;
  connection.on('data', (chunk) => {
    received += chunk.length;
  });
  connection.once('end', () => {
    if (received < bytes) throw new Error(`received ${received} of ${bytes} bytes`);
  });
  connection.write(`output ${bytes}\n`);
  connection.pipe(process.stdout);
}
