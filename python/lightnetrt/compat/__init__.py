# SPDX-License-Identifier: Apache-2.0
"""Faces of other packages: their names over LightNet."""
