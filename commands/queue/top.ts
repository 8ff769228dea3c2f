// `svc queue top`. src/outbound/queue/lanes/lane-report.ts has the reports of the daemons.
import type { QueueSnapshot } from '../../src/outbound/queue/lanes/lane-report.ts';
import { jsonText } from '../base/input/json-text.ts';
import { countsLine, QueueCommand, shortened, withQueue } from '../base/mail/queue.ts';
import { writeLine } from '../base/output/output.ts';
import { liveScreen } from '../base/output/screen.ts';
import { sparkline } from '../base/output/sparkline.ts';

const laneColumns = [
  'lane',
  'inFlight',
  'window',
  'perMinute',
  'waiting',
  'takenPerSecond',
  'closedUntil',
  'pace',
];
const longestLane = 44;

async function snapshotText(snapshot: QueueSnapshot): Promise<string> {
  const { emphasize, table } = await import('../base/output/format.ts');
  const { at, workers, idleWorkers, takenPerSecond, pace, counts, countedUpTo, lanes } = snapshot;
  const working = workers - idleWorkers;
  const idle = idleWorkers === 0 ? '' : `, ${idleWorkers} idle`;
  const daemons = `${working} daemon${working === 1 ? '' : 's'} at work${idle}`;
  const head = [
    `${emphasize('svc queue')}  ${at}  ${daemons}  ${takenPerSecond}/s ${sparkline(pace)}`,
    countsLine(counts, countedUpTo),
  ].join('\n');
  if (lanes.length === 0) return `${head}\n\nNo lane is in use.`;
  const rows = lanes.map((lane) => ({
    ...lane,
    lane: shortened(lane.lane, longestLane),
    pace: sparkline(lane.pace),
  }));
  return `${head}\n\n${table(rows, laneColumns)}`;
}

export default class QueueTop extends QueueCommand {
  static override summary = 'Watch the queue and its lanes at work';

  static override description =
    'Redraws every second on a terminal until q or Ctrl-C; elsewhere, and with --json, ' +
    'prints one snapshot. A lane is a provider, the servers of a domain, or a relay. Its ' +
    'row shows the deliveries on their way and their limit, the limit per minute, the ' +
    'deliveries that wait for room, the rate a second, and the end of a closure. Lanes ' +
    'serve all organizations.';

  static override examples = [
    { description: 'Watch the queue live', command: 'svc queue top' },
    {
      description: 'Print the closed lanes',
      command: "svc queue top --json | jq '.lanes[] | select(.closedUntil)'",
    },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(QueueTop);
    await withQueue(flags, async ({ app }) => {
      const { queueSnapshot } = await import('../../src/outbound/queue/lanes/lane-report.ts');
      if (flags.json) writeLine(jsonText(await queueSnapshot(app)));
      else if (!process.stdout.isTTY) writeLine(await snapshotText(await queueSnapshot(app)));
      else
        await liveScreen(async () => `${await snapshotText(await queueSnapshot(app))}\n\nq leaves`);
    });
  }
}
