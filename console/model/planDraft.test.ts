import { expect, test } from 'vitest'
import { problemsOf, readDraft, withNode } from './planDraft.ts'

const node = (id: string, dependsOn: readonly string[] = []) => ({ id, serviceId: 's', dependsOn })
const text = (...nodes: readonly unknown[]) => JSON.stringify({ nodes })
const ids = (stages: readonly (readonly { id: string }[])[]) =>
  stages.map((stage) => stage.map(({ id }) => id))

test('nodes stand in the stage after those they wait for', () => {
  const { stages, stuck, problem } = readDraft(
    text(node('c', ['a', 'b']), node('a'), node('b', ['a']), node('d')),
  )
  expect(ids(stages)).toEqual([['a', 'd'], ['b'], ['c']])
  expect([stuck, problem]).toEqual([[], null])
})

test('nodes that wait for each other are told apart, and unknown ones wait for nobody', () => {
  const { stages, stuck } = readDraft(
    text(node('a', ['b']), node('b', ['a']), node('self', ['self']), node('free', ['nobody'])),
  )
  expect(ids(stages)).toEqual([['free']])
  expect(stuck.map(({ id }) => id)).toEqual(['a', 'b', 'self'])
})

test('anything is drawn or told', () => {
  const { stages } = readDraft(text(1, null, { id: 5, dependsOn: 'a' }, { id: 'a', dependsOn: [2, 'a2'] }))
  expect(ids(stages)).toEqual([['nodes.0', 'nodes.1', 'nodes.2', 'a']])
  expect(readDraft(' ').problem).toBeNull()
  for (const odd of ['{', '[]', '"x"', '{}', '{"nodes": {}}', '{"nodes": []}'])
    expect(readDraft(odd).problem, odd).toEqual(expect.any(String))
})

test('problems go to the node that they are about', () => {
  const { ofNodes, ofPlan } = problemsOf([
    { path: ['body', 'nodes', 1, 'dependsOn', 0], message: 'no node has the id x' },
    { path: ['body', 'nodes', 1], message: 'silent' },
    { path: ['body', 'extra'], message: 'is an unknown member' },
    { path: ['body'], message: 'is no object' },
  ])
  expect([...ofNodes]).toEqual([[1, ['dependsOn.0: no node has the id x', 'silent']]])
  expect(ofPlan).toEqual(['extra: is an unknown member', 'is no object'])
})

test('a node is added under a free id, and the rest of the text stays', () => {
  const first = withNode('', node('a'))
  expect(JSON.parse(first ?? '')).toEqual({ nodes: [node('a')] })
  const odd = '{"nodes": [ {"id": "a", "input": 1.00} ] }'
  const added = withNode(odd, node('a')) ?? ''
  expect(added).toContain('"input": 1.00')
  expect(JSON.parse(added).nodes.map(({ id }: { id: string }) => id)).toEqual(['a', 'a-2'])
  expect(JSON.parse(withNode(added, node('a')) ?? '').nodes[2].id).toBe('a-3')
  for (const broken of ['{', '{}', '[]', '{"nodes": {}, "x": []}'])
    expect(withNode(broken, node('a')), broken).toBeNull()
})
