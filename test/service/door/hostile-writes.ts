// A hostile call of each write of the API.
import type { Calls } from './hostile-call.ts';
import { contentWrites } from './hostile-content-writes.ts';
import { mailWrites } from './hostile-mail-writes.ts';

/** By `METHOD path`, in the order in which an agent calls them. */
export const hostileWrites: Readonly<Record<string, Calls>> = { ...contentWrites, ...mailWrites };
