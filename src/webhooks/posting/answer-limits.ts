// Limits on the deliveries that a daemon holds for an endpoint, by the endpoint's last answers.
//
//   an endpoint                           | may hold
//   --------------------------------------+--------------------------------------------------
//   without an answer yet                 | 5
//   quick: the last answer was a 2xx      | 64, claimed again once half of them are free: the
//   within half a second                  | next post needs no claim
//   slow: the median of the last five     | 1
//   answers took over 5 s                 |
//   failing, slowly at the last time      | 1
//   failing, at once at the last time     | 16, posted in sequence
//   with replays, and nothing else        | 2
//
// Slow and failing endpoints are called reluctant: all of them share a small pool (places.ts).
import type { PostOutcome } from './post.ts';
import { gone } from './settle.ts';

/** Most posts at once to an endpoint. */
export const mostPostsEach = 5;
export const mostHeldEach = 64;
const mostReplaysEach = 2;
const mostFailingEach = 16;
const quickMs = 500;
const slowMs = 5_000;
const answersKept = 5;

/** The limits of an endpoint, learned from its answers. */
export class AnswerLimits {
  /** The durations of the last answers in ms, oldest first. */
  readonly #answers: number[] = [];
  isFailing = false;
  #isQuick = false;
  #isSlow = false;
  /** Whether the last answer of a failing endpoint was an immediate refusal. */
  #failsAtOnce = false;

  get isQuick(): boolean {
    return this.#isQuick && !this.isSlow;
  }

  get failsAtOnce(): boolean {
    return this.#failsAtOnce;
  }

  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** Whether the endpoint is known to be quick or slow. */
  get isKnown(): boolean {
    return this.#isQuick || this.isSlow;
  }

  /** Records the outcome of a post, with or without an answer. */
  record({ isSuccess, durationMs, statusCode }: PostOutcome): void {
    this.#answers.push(durationMs);
    if (this.#answers.length > answersKept) this.#answers.shift();
    const sorted = this.#answers.toSorted((a, b) => a - b);
    this.#isSlow = (sorted[Math.floor(sorted.length / 2)] ?? 0) > slowMs;
    const isAtOnce = durationMs < quickMs;
    this.#isQuick = isSuccess && isAtOnce;
    this.#failsAtOnce = this.isFailing && !isSuccess && isAtOnce && statusCode !== gone;
  }

  /**
   * Returns the number of posts that may be under way at once: `share`, or 1 if slow or failing.
   */
  mostPosts(share: number): number {
    return this.isFailing || this.isSlow ? Math.min(share, 1) : share;
  }

  /** Returns the number of further deliveries that the endpoint may hold beside `held`. */
  roomBeside(held: number, isReluctant: boolean, isReplay: boolean): number {
    if (isReluctant) {
      const most = this.#failsAtOnce && !this.isSlow ? mostFailingEach : 1;
      return held > most / 2 ? 0 : most - held;
    }
    if (isReplay) return mostReplaysEach - held;
    if (!this.isQuick) return mostPostsEach - held;
    return held <= mostHeldEach / 2 ? mostHeldEach - held : 0;
  }
}
