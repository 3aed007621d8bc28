/* Bonds: a port whose device is one has members, and nobody else has. */
#include "reader.h"

#include <string.h>

static bool is_member(const struct config_bond *bond, const char *device, unsigned before)
{
	for (unsigned i = 0; i < before; i++)
		if (!strcmp(bond->member[i], device))
			return true;
	return false;
}

/* "loop:" and "bond:" are no devices of their own. */
static bool can_be_member(const char *device)
{
	return text_is_device(device) && strncmp(device, "loop:", 5) && strncmp(device, "bond:", 5);
}

static void member_check(struct reader *r, unsigned i, unsigned n)
{
	const struct config *c = r->config;
	const struct config_bond *bond = &c->port[i].bond;
	struct spot s;

	spot_find(r, &s, "ports", i, "bond", "members");
	if (!can_be_member(bond->member[n]))
		problem_add(r->document, &s.inner, PLACE_VALUE,
			    "expected devices other than loops and bonds, got \"%s\"",
			    bond->member[n]);
	if (is_member(bond, bond->member[n], n))
		problem_add(r->document, &s.inner, PLACE_VALUE, "\"%s\" is in the list twice",
			    bond->member[n]);
	for (unsigned j = 0; j < c->devices; j++) {
		const struct config_port *other = &c->port[j];
		bool taken = other->device && !strcmp(other->device, bond->member[n]);

		if (j < i)
			taken |= is_member(&other->bond, bond->member[n], other->bond.members);
		if (taken)
			problem_add(r->document, &s.inner, PLACE_VALUE,
				    "device \"%s\" is another port's already", bond->member[n]);
	}
}

void bond_check(struct reader *r, unsigned i)
{
	const struct config_port *port = &r->config->port[i];
	bool is_bond = port->device && !strncmp(port->device, "bond:", 5);
	struct spot s;

	spot_find(r, &s, "ports", i, "bond", "members");
	if (is_bond && !port->bond.members)
		problem_add(r->document, &s.key, PLACE_VALUE, "missing, expected the members of %s",
			    port->device);
	if (!is_bond && s.key.node && port->device)
		problem_add(r->document, &s.key, PLACE_VALUE,
			    "the device is no bond: expected \"bond:NAME\" in `device`");
	if (port->bond.members > CONFIG_BOND_MEMBERS_MAX) {
		problem_add(r->document, &s.inner, PLACE_VALUE,
			    "expected at most %d devices, got %u", CONFIG_BOND_MEMBERS_MAX,
			    port->bond.members);
		return;
	}
	for (unsigned n = 0; n < port->bond.members; n++)
		member_check(r, i, n);
	if (port->bond.primary && !is_member(&port->bond, port->bond.primary, port->bond.members))
		problem_add(r->document, spot_find(r, &s, "ports", i, "bond", "primary"),
			    PLACE_VALUE, "expected one of the members, got \"%s\"",
			    port->bond.primary);
}
