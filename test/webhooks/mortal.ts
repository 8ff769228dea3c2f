// A service that dies at a point of a test's choice: from then on it writes nothing and posts
// nothing, and its waits never end. Committed transactions stay committed, an open one is lost.
import type { App } from '../../src/core/app.ts';
import type { Store } from '../../src/platform/store/db.ts';
import type { Poster } from '../../src/webhooks/posting/post.ts';

export const stages = ['enqueue', 'claim', 'body', 'post', 'settle'] as const;
export type Stage = (typeof stages)[number];
/** `inside`: within its transaction, all of its work done. */
export const moments = ['before', 'inside', 'after'] as const;

export interface KillPoint {
  stage: Stage;
  moment: (typeof moments)[number];
  /** Position within the writes of its stage. */
  nth: number;
}

export interface Mortal {
  readonly isDead: boolean;
  /** True if none of the transactions begun in its life is open: one may commit after its death. */
  readonly isAtRest: boolean;
  poster: Poster;
}

const never = () => new Promise<never>(() => {});

/** Returns the stage of a write, by its caller in the stack. */
function stageOf(stack: string): Stage | null {
  if (stack.includes('claimWished')) return 'claim';
  if (stack.includes('keepBodies')) return 'body';
  if (/store[/\\]group\.ts/.test(stack)) return 'settle';
  return stack.includes('enqueueOne') ? 'enqueue' : null;
}

/** Kills `app` at this point. */
export function mortal(app: App, poster: Poster, point: KillPoint): Mortal {
  const seen = new Map<Stage, number>();
  let isDead = false;
  /** Returns true at the chosen moment of the stage. */
  const isDue = (stage: Stage | null) => {
    if (stage === null) return false;
    const count = (seen.get(stage) ?? 0) + 1;
    seen.set(stage, count);
    return stage === point.stage && count === point.nth;
  };
  const die = () => {
    isDead = true;
    return never();
  };
  const store = { write: app.store.write };
  let open = 0;
  const write: Store['write'] = async (work, durability) => {
    open += 1;
    try {
      return await store.write(work, durability);
    } finally {
      open -= 1;
    }
  };
  const writeOrDie: Store['write'] = async (work, durability) => {
    if (isDead) return never();
    const isFatal = isDue(stageOf(new Error('where').stack ?? ''));
    if (!isFatal) {
      const written = await write(work, durability);
      return isDead ? never() : written;
    }
    if (point.moment === 'before') return die();
    if (point.moment === 'after') {
      await write(work, durability);
      return die();
    }
    const rollBack = new Error('it died within its transaction');
    await write(async (trx) => {
      await work(trx);
      isDead = true;
      throw rollBack;
    }, durability).catch((error: unknown) => {
      if (error !== rollBack) throw error;
    });
    return never();
  };
  Object.assign(app.store, { write: writeOrDie });
  return {
    get isDead() {
      return isDead;
    },
    get isAtRest() {
      return open === 0;
    },
    poster: {
      async post(request) {
        if (isDead) return never();
        const isFatal = isDue('post');
        if (isFatal && point.moment === 'before') return die();
        const outcome = await poster.post(request);
        if (isFatal) return die();
        return isDead ? never() : outcome;
      },
      close: () => poster.close(),
    },
  };
}
