// `npm run bench`: reads the options, says what runs where, and starts what was asked for. What each
// part measures and how to read it: README.md beside this.
import { cpus, tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { benchBacklog } from './backlog.ts';
import { benchConnections } from './connections.ts';
import { benchFairness } from './fairness.ts';
import { say, sayLoad } from './progress.ts';
import { benchQuickly } from './quick.ts';
import { signings, textOf } from './svc-contender.ts';
import { raceAgainstPostfix } from './versus.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    connections: { type: 'string' },
    size: { type: 'string', default: '2048' },
    only: { type: 'string' },
    profile: { type: 'boolean', default: false },
    vs: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    backlog: { type: 'boolean', default: false },
    rows: { type: 'string', default: '1000,100000,1000000' },
    fairness: { type: 'boolean', default: false },
    'connections-idle': { type: 'boolean', default: false },
  },
});

// The children and their directories go with the bench, however it ends.
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.once(signal, () => process.exit(128 + number));
}

const only = signings.find((signing) => signing === values.only) ?? null;
if (values.only !== undefined && !only) fail(`--only is one of ${signings.join(', ')}`);
if (values.vs !== undefined && values.vs !== 'postfix') fail('--vs knows postfix only');
const count = (name: 'messages' | 'size' | 'rounds') => {
  const value = Number(values[name]);
  return Number.isInteger(value) && value > 0 ? value : fail(`--${name} is a number above 0`);
};
const messages = count('messages');
const text = textOf(count('size'));
const wanted = values.connections ?? (values.vs === undefined ? '32' : '32,100');
const connections = wanted.split(',').map(Number);
if (!connections.every((one) => Number.isInteger(one) && one > 0)) {
  fail('--connections is a number above 0, or a list of them such as 32,100 with --vs');
}
const [firstConnections = 32] = connections;
if (connections.length > 1 && values.vs === undefined)
  fail('only --vs races over several --connections');
const mail = { connections: firstConnections, text };
const rows = values.rows.split(',').map(Number);
if (!rows.every((size, index) => Number.isInteger(size) && size > (rows[index - 1] ?? 0))) {
  fail('--rows is a list of growing numbers, such as 1000,100000');
}
const parts = [
  values.vs !== undefined,
  values.backlog,
  values.fairness,
  values['connections-idle'],
].filter(Boolean).length;
if (parts > 1) fail('--vs, --backlog, --fairness and --connections-idle are runs of their own');
if (parts > 0 && (only || values.profile)) fail('--only and --profile belong to the plain run');

say(
  `${messages} messages of about ${values.size} bytes over ${connections.join(' and ')} connections,\n` +
    `SQLite, fsync before each answer, on ${tmpdir()}, ${cpus().length} cores, Node ${process.version}`,
);
sayLoad();
say('');
if (values.vs) await raceAgainstPostfix({ text, connections, messages, rounds: count('rounds') });
else if (values.backlog) await benchBacklog({ ...mail, messages, rows });
else if (values.fairness) await benchFairness(mail);
else if (values['connections-idle']) await benchConnections(mail);
else await benchQuickly({ ...mail, messages, only, profile: values.profile });

function fail(problem: string): never {
  process.stderr.write(`bench: ${problem}\n`);
  process.exit(2);
}
