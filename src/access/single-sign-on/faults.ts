// The log of failed visits to the provider. Anybody can cause them, so each kind has a line a
// minute, with the number of failures since the last line.
import type { App } from '../../core/app.ts';
import { ProviderError, type ProviderFault } from './provider.ts';

const lineMs = 60_000;

interface Line {
  at: number;
  unlogged: number;
}

const lines = new WeakMap<App, Map<ProviderFault, Line>>();

/** Counts a ProviderError, and logs it unless a line of the same fault is younger than a minute. */
export function reportFault(app: App, error: unknown): void {
  if (!(error instanceof ProviderError)) return;
  const { fault, message: detail } = error;
  app.metrics.providerFaults.inc({ fault });
  const ofApp = lines.get(app) ?? new Map<ProviderFault, Line>();
  lines.set(app, ofApp);
  const last = ofApp.get(fault);
  const now = app.clock.elapsed();
  if (last && now - last.at < lineMs) {
    last.unlogged += 1;
    return;
  }
  ofApp.set(fault, { at: now, unlogged: 0 });
  const facts = { fault, detail, since: last?.unlogged ?? 0 };
  app.log.warn(facts, 'single sign-on: a sign-in at the provider failed');
}
