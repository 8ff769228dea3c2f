// Starts the parts of the daemon that serve tracking hosts.
import { watchActiveHosts } from '../../src/outbound/tracking/custom/active-hosts.ts';
import { createTrackingHostLoop } from '../../src/outbound/tracking/custom/loop.ts';
import type { OnStop } from '../stops.ts';
import { startTrackingListeners } from './listeners.ts';
import type { TrackingParts } from './requests.ts';
import { startDnsResponder } from './responder.ts';

export interface TrackingPorts {
  http: number | null;
  https: number | null;
  dns: number | null;
}

/** Starts the registry of tracking hosts, their checks, the listeners and the DNS responder. */
export async function startTracking(parts: TrackingParts, onStop: OnStop): Promise<TrackingPorts> {
  const { app } = parts;
  onStop(await watchActiveHosts(app));
  const listeners = await startTrackingListeners(parts);
  onStop((graceMs) => listeners.close(graceMs));
  const { host, port } = app.config.tracking.acme.dns;
  const responder = port === null ? null : await startDnsResponder(app, { host, port });
  if (responder) onStop(() => responder.close());
  const loop = createTrackingHostLoop(app);
  loop.start();
  onStop(() => loop.stop());
  const { httpPort, httpsPort } = listeners;
  const ports = { http: httpPort, https: httpsPort, dns: responder?.port ?? null };
  const isOn = Object.values(ports).some((one) => one !== null);
  if (isOn) app.log.info(ports, 'tracking hosts are served');
  return ports;
}
