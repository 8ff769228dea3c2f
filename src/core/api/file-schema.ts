// Schemas of routes that answer with a file.
import { z } from 'zod';
import type { FileAnswer } from './route.ts';

/** The number of an attachment in a path, from 1. */
export const attachmentNumber = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'must be the number of an attachment, from 1')
  .transform(Number);

/** Output schema of a route with `sendsFile`. Checks nothing. */
export const fileOutput = z.custom<FileAnswer>();
