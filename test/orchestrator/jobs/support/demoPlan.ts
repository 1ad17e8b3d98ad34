/** Seven nodes of the shipped sellers in four stages: one is polled, one fails once it is paid. */
import type { Plan, PlanNode } from '#orchestrator/plan/plan.ts'

const call = (
  id: string,
  serviceId: string,
  path: string,
  input: unknown,
  dependsOn: string[] = [],
): PlanNode => ({
  ...{ id, serviceId, method: path === '/daylight' ? 'GET' : 'POST', path, input, dependsOn },
})

export const demoPlan: Plan = {
  nodes: [
    call('paris', 'demo-places', '/geocode', { city: 'Paris' }),
    call('london', 'demo-places', '/geocode', { city: 'London' }),
    call(
      'echo',
      'demo-moody',
      '/echo',
      { message: { $concat: [['flow://paris/output'], ['flow://london/output']] } },
      ['paris', 'london'],
    ),
    call('report', 'demo-reports', '/reports', { title: 'Places', facts: 'flow://echo/output#/message' }, [
      'echo',
    ]),
    call('summary', 'demo-digest', '/summarize', { text: 'flow://report/output#/report', sentences: 1 }, [
      'report',
    ]),
    call('broken', 'demo-moody', '/echo', { fail: true }),
    call('after', 'demo-moody', '/echo', { message: 'flow://broken/output' }, ['broken']),
  ],
}
