// `npm run bench`: reads the options, prints the set-up, and starts the requested parts. Their
// figures and how to read them: README.md beside this.
import { cpus, tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { benchBacklog } from './backlog.ts';
import { benchBeside } from './beside.ts';
import { benchCampaigns } from './campaigns.ts';
import { benchConnections } from './connections.ts';
import { benchFairness } from './fairness.ts';
import { benchInbound } from './inbound.ts';

import { benchLists } from './lists.ts';
import { deliveriesAtOnce } from './postfix-config.ts';
import { benchPostgres } from './postgres.ts';

import { say, sayLoad } from './progress.ts';
import { benchQuickly } from './quick.ts';
import { benchSubmission } from './submission.ts';
import { signings, textOf } from './svc-contender.ts';
import { benchTemplates } from './templates.ts';
import { raceAgainstPostfix } from './versus.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    connections: { type: 'string' },
    size: { type: 'string', default: '2048' },
    only: { type: 'string' },
    profile: { type: 'boolean', default: false },
    links: { type: 'string' },
    'sink-delay': { type: 'string', default: '0' },
    'sink-connections': { type: 'string', default: String(deliveriesAtOnce) },
    vs: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    backlog: { type: 'boolean', default: false },
    rows: { type: 'string', default: '1000,100000,1000000' },
    lists: { type: 'boolean', default: false },
    beside: { type: 'boolean', default: false },
    fairness: { type: 'boolean', default: false },
    inbound: { type: 'boolean', default: false },
    submission: { type: 'boolean', default: false },
    templates: { type: 'boolean', default: false },
    campaigns: { type: 'boolean', default: false },
    'connections-idle': { type: 'boolean', default: false },
    store: { type: 'string', default: 'sqlite' },
    daemons: { type: 'string', default: '1' },
  },
});

// Removes the child processes and their directories at any end of the bench.
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.once(signal, () => process.exit(128 + number));
}

const only = signings.find((signing) => signing === values.only) ?? null;
if (values.only !== undefined && !only) fail(`--only is one of ${signings.join(', ')}`);
if (values.vs !== undefined && values.vs !== 'postfix') fail('--vs knows postfix only');
const count = (name: 'messages' | 'size' | 'rounds' | 'sink-connections') => {
  const value = Number(values[name]);
  return Number.isInteger(value) && value > 0 ? value : fail(`--${name} is a number above 0`);
};
const sinkDelayMs = Number(values['sink-delay']);
if (!Number.isInteger(sinkDelayMs) || sinkDelayMs < 0) fail('--sink-delay is in milliseconds');
const sinkConnections = count('sink-connections');
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
const links = (['plain', 'tracked'] as const).find((one) => one === values.links) ?? null;
if (values.links !== undefined && links === null) fail('--links is plain or tracked');
const mail = { connections: firstConnections, text, links };
const rows = values.rows.split(',').map(Number);
if (!rows.every((size, index) => Number.isInteger(size) && size > (rows[index - 1] ?? 0))) {
  fail('--rows is a list of growing numbers, such as 1000,100000');
}
const isPostgres = values.store === 'postgres';
if (!isPostgres && values.store !== 'sqlite') fail('--store is sqlite or postgres');
const daemons = values.daemons.split(',').map(Number);
if (!daemons.every((one) => Number.isInteger(one) && one > 0 && one <= 8)) {
  fail('--daemons is a number up to 8, or a list such as 1,2,4');
}
if (values.daemons !== '1' && !isPostgres) fail('--daemons belongs to --store postgres');
const parts = [
  isPostgres,
  values.vs !== undefined,
  values.backlog,
  values.fairness,
  values.inbound,
  values.submission,
  values.templates,
  values.campaigns,
  values['connections-idle'],
  values.lists,
  values.beside,
].filter(Boolean).length;
if (parts > 1) {
  fail(
    '--store postgres, --vs, --backlog, --fairness, --inbound, --submission, --templates, --campaigns, ' +
      '--connections-idle, --lists and --beside run alone',
  );
}
const isPlain =
  !only && !values.profile && sinkDelayMs === 0 && sinkConnections === deliveriesAtOnce;
if (parts > 0 && !isPlain) {
  fail('--only, --profile, --sink-delay and --sink-connections belong to the plain run');
}

say(
  `${messages} messages of about ${values.size} bytes over ${connections.join(' and ')} connections,\n` +
    `fsync before each answer, on ${tmpdir()}, ${cpus().length} cores, Node ${process.version}`,
);
sayLoad();
say('');
if (isPostgres) await benchPostgres({ ...mail, messages, daemons });
else if (values.vs)
  await raceAgainstPostfix({ text, connections, messages, rounds: count('rounds') });
else if (values.backlog) await benchBacklog({ ...mail, messages, rows });
else if (values.fairness) await benchFairness(mail);
else if (values.inbound) await benchInbound({ ...mail, messages, rounds: count('rounds') });
else if (values.submission) await benchSubmission({ ...mail, messages, rounds: count('rounds') });
else if (values.templates) await benchTemplates({ ...mail, messages, rounds: count('rounds') });
else if (values.campaigns) await benchCampaigns({ ...mail, messages, rounds: count('rounds') });
else if (values['connections-idle']) await benchConnections(mail);
else if (values.beside)
  await benchBeside({ ...mail, messages, rounds: count('rounds'), rows: rows.at(-1) ?? 0 });
else if (values.lists) await benchLists(rows.at(-1) ?? 0);
else {
  const sink = { sinkDelayMs, sinkConnections };
  await benchQuickly({ ...mail, ...sink, messages, only, profile: values.profile });
}

function fail(problem: string): never {
  process.stderr.write(`bench: ${problem}\n`);
  process.exit(2);
}
