// Draws the windows of a warming plan as bars: the allowance and the sent mail of each window.
import type { Simulation } from '../../../src/identity/warming/ramp.ts';
import type { Warming } from '../../../src/identity/warming/schema.ts';

const width = 40;
const mostWindows = 30;

/** Draws `sent` in full blocks and the rest of `allowance` in light blocks; `+` marks an excess. */
function bar(sent: number, allowance: number, largest: number): string {
  const cells = (count: number) => Math.ceil((Math.min(count, largest) / largest) * width);
  const full = cells(Math.min(sent, allowance));
  return `${'█'.repeat(full)}${'░'.repeat(cells(allowance) - full)}${sent > allowance ? '+' : ''}`;
}

function percent(rate: number): string {
  return `${Number((rate * 100).toFixed(2))}%`;
}

/** Draws all windows of a plan that is not started yet. */
export async function simulationView({ windows, completesAt }: Simulation): Promise<string> {
  const { table } = await import('../output/format.ts');
  const largest = windows.at(-1)?.allowanceRecipients ?? 1;
  const rows = windows.map(({ sequence, startsAt, allowanceRecipients }) => ({
    window: sequence,
    startsAt,
    allowance: allowanceRecipients,
    ramp: bar(0, allowanceRecipients, largest),
  }));
  const end =
    completesAt === null
      ? 'Without growth the plan never reaches its target: 30 windows are shown.'
      : `Completed ${completesAt}, if every window is safe. Nothing was started.`;
  return `${table(rows, ['window', 'startsAt', 'allowance', 'ramp'])}\n\n${end}`;
}

const directNotes = {
  count:
    'Direct sends count here, and are never delayed: allowances are for campaigns, whose runs wait\n' +
    'for the next window.',
  defer:
    'Direct sends count here when they are accepted. Those above the allowance wait in the queue\n' +
    'for a later window, at most until their age limit.',
};

/** Shows a plan with the sent mail and the outcomes. */
export async function warmingView(warming: Warming): Promise<string> {
  const { card, table } = await import('../output/format.ts');
  const { plan, batches, decisions, evidence, holds } = warming;
  const shown = batches.slice(-mostWindows);
  const largest = Math.max(1, ...shown.map((one) => one.allowanceRecipients));
  const windows = shown.map((one) => ({
    ...one,
    window: one.sequence,
    allowance: one.allowanceRecipients,
    accepted: one.acceptedRecipients,
    ramp: bar(one.acceptedRecipients, one.allowanceRecipients, largest),
  }));
  const { sent, bounced, complained, bounceThreshold, complaintThreshold } = evidence;
  const last24 =
    `${evidence.verdict}: ${sent} sent, ${bounced} bounced (limit ${percent(bounceThreshold)}), ` +
    `${complained} complained (limit ${percent(complaintThreshold)}); fewer than ` +
    `${evidence.minimumSends} prove nothing`;
  const facts = { ...plan, domain: warming.domain.domain, evidence: last24, ...holds };
  return [
    card(facts, planCard),
    table(windows, ['window', 'state', 'startsAt', 'allowance', 'accepted', 'ramp']),
    table(decisions.slice(-mostWindows), ['createdAt', 'kind', 'actor', 'note']),
    directNotes[plan.direct],
  ].join('\n\n');
}

const planCard = [
  'domain',
  'status',
  'identity',
  'initialDailyRecipients',
  'dailyGrowthPercent',
  'targetDailyRecipients',
  'direct',
  'holdReason',
  'heldAt',
  'pausedAt',
  'completedAt',
  'evidence',
  'sendingStatus',
  'workspacePauseReason',
];
