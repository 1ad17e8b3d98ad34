/** /v1/orgs/{orgId}/projects: what keys belong to. Members read, admins change. */

import { command, endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { management } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { deleteProject, insertProject, listProjects, renameProject } from '#rows/access/projects.ts'
import { withinBound } from '#rows/bounds.ts'
import { type AccountServices, assertRole, orgErrors, orgId, projectId, projectIn } from './accounts.ts'
import { name, presentProject, project } from './shapes.ts'

export const listProjectsEndpoint = endpoint({
  path: '/v1/orgs/{orgId}/projects',
  summary: 'Projects of an organization.',
  params: { orgId },
  chain: 'none',
  access: management,
  errors: orgErrors,
  response: s.object({ data: s.array(project) }),
  read: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'member')
    return listProjects(accounts.app, call.path.orgId)
  },
  present: (found) => ({ data: found.map(presentProject) }),
  cache: 'none',
})

export const createProjectEndpoint = command({
  path: '/v1/orgs/{orgId}/projects',
  method: 'POST',
  summary: 'Make a project. For admins.',
  params: { orgId },
  access: management,
  errors: [...orgErrors, 'limit_exceeded'],
  body: s.object({ name }),
  response: project,
  run: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'admin')
    const id = call.path.orgId
    return withinBound(
      accounts.app,
      { table: 'app.organizations', id },
      'projectsOfOrganization',
      async (app) => (await listProjects(app, id)).length,
      (app) => insertProject(app, id, call.body.name),
    )
  },
  present: presentProject,
})

export const readProjectEndpoint = endpoint({
  path: '/v1/orgs/{orgId}/projects/{projectId}',
  summary: 'One project.',
  params: { orgId, projectId },
  chain: 'none',
  access: management,
  errors: [...orgErrors, 'project_not_found'],
  response: project,
  read: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'member')
    return projectIn(accounts, call.path.orgId, call.path.projectId)
  },
  present: presentProject,
  cache: 'none',
})

export const renameProjectEndpoint = command({
  path: '/v1/orgs/{orgId}/projects/{projectId}',
  method: 'PATCH',
  summary: 'Rename a project. For admins.',
  params: { orgId, projectId },
  access: management,
  errors: [...orgErrors, 'project_not_found'],
  body: s.object({ name }),
  response: project,
  run: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'admin')
    const { id } = await projectIn(accounts, call.path.orgId, call.path.projectId)
    return renameProject(accounts.app, id, call.body.name)
  },
  present: presentProject,
})

export const deleteProjectEndpoint = command({
  path: '/v1/orgs/{orgId}/projects/{projectId}',
  method: 'DELETE',
  summary: 'Delete a project; its keys open nothing within a second. For admins.',
  params: { orgId, projectId },
  access: management,
  errors: [...orgErrors, 'project_not_found'],
  response: s.object({ id: s.text() }),
  run: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'admin')
    const { id } = await projectIn(accounts, call.path.orgId, call.path.projectId)
    if (id === accounts.defaults.projectId)
      throw new ApiError('forbidden', 'The default project stays: commands of the operator need it.')
    await deleteProject(accounts.app, id)
    return { id }
  },
  present: (deleted) => deleted,
})
