/** Prints a growing number every 10 ms until the file named by its first argument exists; then exits with 7. */
export const COUNTER = `const { existsSync } = require('node:fs');
let number = 0;
const timer = setInterval(() => {
  console.log(number++);
  if (!existsSync(process.argv[2])) return;
  clearInterval(timer);
  process.exitCode = 7;
}, 10);`;

/** Answers with its PID and the number of requests so far, on the port in its first argument. */
export const EXPORTER = `let count = 0;
require('node:http')
  .createServer((_request, response) => response.end(process.pid + ' ' + ++count))
  .listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'));`;
