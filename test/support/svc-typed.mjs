// `svc` as a shell finds it in the folder of svc-typed.ts: hands its words, environment and input to the
// test, and prints the answer. Loads nothing else: it takes a tenth of a start of svc.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const { SVC_TYPED_SOCKET = '', ...env } = process.env;
const work = {
  args: process.argv.slice(2),
  env,
  input: readFileSync(0, 'utf8'),
};
const socket = connect(SVC_TYPED_SOCKET);
let answer = '';
socket.setEncoding('utf8').on('data', (text) => {
  answer += text;
});
socket.on('end', () => {
  const { code, stdout, stderr } = JSON.parse(answer);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
});
socket.end(JSON.stringify(work));
