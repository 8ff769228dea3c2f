// What the doctor learns from the numbers of the operating system.
import { expect, it } from 'vitest';
import { networkFileSystemOf } from '../../../src/doctor/machine.ts';

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
