// The simulator addresses (contract 1): outcomes on demand, in every mode, with no network.

/** What each address stands for. `deferred` is deferred once, then delivered. */
export const simulatorOutcomes = [
  'delivered',
  'bounced',
  'deferred',
  'complained',
  'opened',
] as const;
export type SimulatedOutcome = (typeof simulatorOutcomes)[number];

const domain = '@simulator.test';

/** The outcome the address asks for, or null where it is no simulator address. */
export function simulatedOutcome(email: string): SimulatedOutcome | null {
  const folded = email.toLowerCase();
  if (!folded.endsWith(domain)) return null;
  const [name] = folded.slice(0, -domain.length).split('+');
  return simulatorOutcomes.find((outcome) => outcome === name) ?? null;
}
