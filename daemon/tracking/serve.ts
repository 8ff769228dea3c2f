// All targets of links in mail: opens and clicks below `/t/`, unsubscribing below `/u/`, confirming
// below `/c/`.

import { serveConfirming } from '../../src/campaigns/opt-in/serve.ts';
import type { App } from '../../src/core/app.ts';
import { serveTracked, type TrackedAnswer } from '../../src/outbound/tracking/serve.ts';
import type { LeaveRequest } from '../../src/outbound/unsubscribe-links/page-facts.ts';
import { serveLeaving } from '../../src/outbound/unsubscribe-links/serve.ts';

export async function serveLinks(app: App, request: LeaveRequest): Promise<TrackedAnswer | null> {
  return (
    (await serveTracked(app, request)) ??
    (await serveLeaving(app, request)) ??
    serveConfirming(app, request)
  );
}
