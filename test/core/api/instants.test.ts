// Instants in requests: every field of every route takes ISO 8601 without seconds, as `date
// -Iminutes` prints it.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from '../../../daemon/http/routes.ts';
import { instant } from '../../../src/core/api/resource-schema.ts';

interface Field {
  name: string;
  schema: z.ZodType;
}

/** Returns the fields of an object that take an instant. */
function instantsOf(where: string, schema: unknown): Field[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, field]) => {
    const json = JSON.stringify(z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' }));
    if (field instanceof z.ZodObject) return instantsOf(`${where}.${name}`, field);
    return json.includes('"format":"date-time"')
      ? [{ name: `${where}.${name}`, schema: field }]
      : [];
  });
}

const fields = routes.flatMap((route) => [
  ...instantsOf(`${route.name} query`, 'query' in route ? route.query : undefined),
  ...instantsOf(`${route.name} body`, 'body' in route ? route.body : undefined),
]);

describe('an instant', () => {
  it('is in many fields of requests', () => {
    expect(fields.length).toBeGreaterThan(20);
    expect(fields.map(({ name }) => name)).toContain('scheduleMessage body.scheduledFor');
  });

  it.each(fields)('may leave out the seconds as $name', ({ schema }) => {
    for (const offset of ['Z', '+02:00', '-09:30']) {
      const short = schema.safeParse(`2026-01-05T12:00${offset}`);
      const whole = schema.safeParse(`2026-01-05T12:00:00${offset}`);
      expect(short).toEqual(whole);
      expect(whole.success).toBe(true);
    }
  });

  it.each([
    '2026-01-05T12:00',
    '2026-01-05T12Z',
    '2026-01-05T24:00Z',
    '2026-01-05T12:60Z',
    '2026-02-30T12:00Z',
    '2026-01-05T12:00+2:00',
    '2026-01-05T12:00 +02:00',
    '2026-01-05T12:00Z ',
    '26-01-05T12:00Z',
    '',
  ])('is not %j', (text) => {
    expect(instant.safeParse(text).success).toBe(false);
  });
});
