// Shows a campaign run to people: status, progress, pace, and bars for the outcome of contacts and
// messages.
import type { RunSummary } from '../../../src/campaigns/setup/run-schema.ts';

const width = 30;
const minuteMs = 60_000;

/** Draws `part` of `whole` in full blocks and the rest in light blocks. */
function bar(part: number, whole: number): string {
  const full = whole === 0 ? 0 : Math.round((Math.min(part, whole) / whole) * width);
  // A part above zero always gets a cell.
  const cells = part > 0 ? Math.max(1, full) : 0;
  return `${'█'.repeat(cells)}${'░'.repeat(width - cells)}`;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '' : `${Number(((part / whole) * 100).toFixed(1))}%`;
}

interface Line {
  name: string;
  count: number;
  of: number;
}

/** Draws counts as bars, each on a line. */
export function countLines(rows: readonly Line[]): string {
  const shown = rows.map(({ name, count, of }) => {
    const number = count.toLocaleString('en').padStart(9);
    return `${name.padEnd(12)} ${bar(count, of)} ${number}  ${percent(count, of)}`.trimEnd();
  });
  return shown.join('\n');
}

/**
 * Returns the time of the completion, else `now` for a running run, else of the last change (ms).
 */
function until({ status, completedAt, updatedAt }: RunSummary, now: number): number {
  if (completedAt !== null) return Date.parse(completedAt);
  return status === 'running' ? now : Date.parse(updatedAt);
}

/**
 * Returns the messages per minute, and for a running run the time for the rest at that pace. Null
 * before the first message.
 */
async function paceLine(run: RunSummary, now: number): Promise<string | null> {
  const { status, startedAt, dispatchedCount, totalRecipients } = run;
  if (startedAt === null || dispatchedCount === 0) return null;
  const { spanInWords } = await import('../../../src/outbound/explain/time-words.ts');
  const tookMs = Math.max(1_000, until(run, now) - Date.parse(startedAt));
  const perMinute = (dispatchedCount / tookMs) * minuteMs;
  const rounded = perMinute >= 10 ? Math.round(perMinute) : Number(perMinute.toFixed(1));
  const judged = dispatchedCount + run.failedCount + run.skippedCount;
  const left = Math.max(0, totalRecipients - judged);
  const leftMs = (left * tookMs) / judged;
  const end = status === 'running' && left > 0 ? `, about ${spanInWords(leftMs)} left` : '';
  return `pace         ${rounded.toLocaleString('en')} a minute over ${spanInWords(tookMs)}${end}`;
}

/** Draws a run as text: status, progress, pace and bars. */
export async function runText(run: RunSummary, now: number): Promise<string> {
  const { emphasize, inWords, plainText } = await import('../output/format.ts');
  const { standingOf } = await import('../../../src/campaigns/setup/run-words.ts');
  const { id, status, totalRecipients, dispatchedCount, failedCount, skippedCount, stats } = run;
  const { because, help } = standingOf(run, now);
  const judged = dispatchedCount + failedCount + skippedCount;
  const total = Math.max(totalRecipients, judged);
  const marks = [
    run.onlyNew && 'only new',
    run.retryOf && `retry of ${run.retryOf}`,
    run.isTest && 'test key',
  ];
  const head = [emphasize(id), emphasize(status), ...marks.filter(Boolean).map(inWords)].join('  ');
  const standing = [because, help && `${help.purpose}: ${help.command}`].filter(Boolean);
  const progress = countLines([
    { name: 'judged', count: judged, of: total },
    { name: 'dispatched', count: dispatchedCount, of: total },
    { name: 'failed', count: failedCount, of: total },
    { name: 'skipped', count: skippedCount, of: total },
  ]);
  const outcomes = countLines(
    Object.entries(stats).map(([name, count]) => ({ name, count, of: dispatchedCount })),
  );
  return [
    `${head}\n${plainText(standing.join('\n'))}`,
    [progress, await paceLine(run, now)].filter(Boolean).join('\n'),
    ...(dispatchedCount > 0
      ? [`of ${dispatchedCount.toLocaleString('en')} messages:\n${outcomes}`]
      : []),
  ].join('\n\n');
}

/** Draws a run as text, for the present time of this machine. */
export function runView(run: RunSummary): Promise<string> {
  return runText(run, Date.now());
}
