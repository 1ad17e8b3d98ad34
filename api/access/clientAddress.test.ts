import { expect, test } from 'vitest'
import { addressGroup, addressList, connectionLimits, isLoopback } from './clientAddress.ts'

test('an IPv4 address is a group of its own, in both of its forms', () => {
  expect(addressGroup('203.0.113.9')).toBe('203.0.113.9')
  expect(addressGroup('::ffff:203.0.113.9')).toBe('203.0.113.9')
})

test('addresses of one /56 share a group, however they are written', () => {
  const group = addressGroup('2001:db8:0:1200::1')
  for (const same of ['2001:DB8::12ff:0:0:0:9', '2001:db8:0:12ab::', '2001:0db8:0000:1234:1:2:3:4'])
    expect(addressGroup(same), same).toBe(group)
  expect(addressGroup('2001:db8:0:1300::1')).not.toBe(group)
  expect(addressGroup('::1')).toBe('0:0:0:0::/56')
})

test('a list holds its addresses and ranges, and nothing else', () => {
  const holds = addressList(['203.0.113.9', '10.0.0.0/8', '2001:db8::/32'])
  for (const inside of ['203.0.113.9', '::ffff:10.1.2.3', '2001:db8::7'])
    expect(holds(inside), inside).toBe(true)
  for (const outside of ['203.0.113.8', '11.0.0.1', '2001:db9::1', 'nonsense'])
    expect(holds(outside), outside).toBe(false)
  for (const bad of ['', '1.2.3', '1.2.3.4/33', '1.2.3.4/x', '::/129', '1.2.3.4/8/9'])
    expect(() => addressList([bad]), bad).toThrow(RangeError)
})

test('loopback is told in every form', () => {
  for (const own of ['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1'])
    expect(isLoopback(own), own).toBe(true)
  for (const other of ['10.0.0.1', '::2', '128.0.0.1', '']) expect(isLoopback(other), other).toBe(false)
})

test('connections of a household count together, those of the machine and of proxies not at all', () => {
  const { partyOf } = connectionLimits(['10.0.0.0/8'])
  expect(partyOf('203.0.113.9')).toBe('203.0.113.9')
  expect(partyOf('::ffff:203.0.113.9')).toBe('203.0.113.9')
  expect(partyOf('2001:db8::1')).toBe(partyOf('2001:db8:0:ff::2'))
  for (const address of ['127.0.0.1', '::1', '10.1.2.3']) expect(partyOf(address), address).toBeNull()
})
