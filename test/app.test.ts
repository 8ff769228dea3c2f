// The constructor of the app (src/core/app.ts), and its hooks: a room declares the hooks that it
// calls, and service.ts provides them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Hooks, openApp } from '../src/core/app.ts';
import { hooks } from '../src/service/service.ts';
import { repository } from './support/cli.ts';

const wings: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(repository, 'wings.json'), 'utf8'),
);
const rooms = Object.entries(wings).flatMap(([wing, own]) =>
  own.length === 0 ? [`src/${wing}`] : own.map((room) => `src/${wing}/${room}`),
);
const sources = globSync('src/**/*.ts', { cwd: repository }).map((file) => ({
  room: rooms.find((room) => file === room || file.startsWith(`${room}/`)),
  text: readFileSync(join(repository, file), 'utf8'),
}));

/** Returns the names in the interface `Hooks`, with the room of the declaration. */
const declared = sources.flatMap(({ room, text }) =>
  [...text.matchAll(/^( *)(?:export )?interface Hooks \{\n(.*?)^\1\}/gms)].flatMap(
    ([, indent, body = '']) =>
      [...body.matchAll(new RegExp(`^${indent}  (?:readonly )?(\\w+)[:(]`, 'gm'))].map(
        ([, name = '']) => ({ name, room }),
      ),
  ),
);

/** Returns the names of called hooks, with the room of the call. */
const called = sources.flatMap(({ room, text }) =>
  [...text.matchAll(/\bapp\.hooks\.(\w+)|\{ (\w+) \} = \S*app\.hooks;/g)].map(
    ([, member, taken]) => ({
      name: member ?? taken ?? '',
      room,
    }),
  ),
);
const byName = (a: string, b: string) => a.localeCompare(b);

it('openApp requires every hook of the service', () => {
  expectTypeOf<Parameters<typeof openApp>[2]>().toEqualTypeOf<Hooks>();
  expectTypeOf<Required<Hooks>>().toEqualTypeOf<Hooks>();
});

describe('the hooks', () => {
  it('are declared in the source as service.ts provides them', () => {
    const names = declared.map(({ name }) => name).sort(byName);
    expect(names).toEqual(Object.keys(hooks).sort(byName));
    expect(names.length).toBeGreaterThan(5);
  });

  it('are declared by the room that calls them', () => {
    const places = (of: typeof declared) => [
      ...new Set(of.map(({ name, room }) => `${name} in ${room}`)),
    ];
    expect(places(called).sort(byName)).toEqual(places(declared).sort(byName));
  });
});
