// What the doctor learns from the numbers of the operating system.
import { expect, it } from 'vitest';
import { networkFileSystemOf, passingFileSystemOf } from '../../../src/doctor/machine.ts';

it.each([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  // ext4, and memory.
  [0xef53, null],
  [0x01021994, null],
])('a file system of the number %i is %s', (type, name) => {
  expect(networkFileSystemOf(type)).toBe(name);
});

it.each([
  [0x01021994, /^tmpfs/],
  [0x858458f6, /^ramfs/],
  [0x794c7630, /^the overlay of a container/],
])('a file system of the number %i does not outlive a restart', (type, words) => {
  expect(passingFileSystemOf(type)).toMatch(words);
  expect(networkFileSystemOf(type)).toBeNull();
});

it('a disk outlives a restart', () => {
  expect(passingFileSystemOf(0xef53)).toBeNull();
});
