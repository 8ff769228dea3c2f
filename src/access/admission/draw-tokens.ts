// Draws of many tokens for mail that the service sends automatically: scheduled messages
// (src/outbound/queue/schedule/scheduled.ts) and runs of campaigns (src/campaigns). Such mail waits
// for tokens instead of failing, so a draw takes the available tokens.
import type { App } from '../../core/app.ts';
import { admissionOf, type Drawer, halfOf } from './admission.ts';

/** Result of a draw. */
export interface DrawnTokens {
  drawn: number;
  /** Milliseconds until the next token may exist; 0 if all wanted tokens were drawn. */
  waitMs: number;
}

/**
 * Draws up to `wanted` tokens, in few steps, as each may be a transaction. `leavesHalf`: half of
 * the bucket stays for requests, which fail where this mail only waits.
 * @throws CapacityError if the store is needed and unavailable.
 */
export async function drawTokens(
  app: App,
  drawer: Drawer,
  wanted: number,
  options: { leavesHalf?: boolean } = {},
): Promise<DrawnTokens> {
  const admission = admissionOf(app);
  let drawn = 0;
  let waitMs = 0;
  // Returns the tokens that the bucket is known to have. Before the first draw the level is
  // unknown, so a single token is assumed.
  const seen = () => {
    const state = drawn === 0 ? { limit: 0, remaining: 1 } : admission.stateOf(drawer);
    if (!state) return wanted;
    return state.remaining - (options.leavesHalf ? halfOf(state.limit) : 0);
  };
  while (waitMs === 0 && drawn < wanted) {
    const many = Math.max(1, Math.min(seen(), wanted - drawn));
    const isDrawn = many > 1 && (await admission.tryDraw(drawer, many, options)) === 0;
    if (!isDrawn) waitMs = await admission.tryDraw(drawer, 1, options);
    if (waitMs === 0) drawn += isDrawn ? many : 1;
  }
  return { drawn, waitMs };
}
