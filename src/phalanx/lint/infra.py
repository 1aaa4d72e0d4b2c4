"""Everything else that rules look at: clusters, load balancers, roles, storage, alarms."""

from __future__ import annotations

from phalanx.lint.entity import Entity
from phalanx.lint.values import Unknown


class Cluster(Entity):
    """An ECS cluster; `settings`, `capacityProviders`."""

    kind = "cluster"
    name_paths = ("clusterName",)


class ClusterProviders(Entity):
    """The association of capacity providers with a cluster."""

    kind = "cluster capacity providers"
    name_paths = ()


class TargetGroup(Entity):
    """A target group, in the words of CreateTargetGroup (`healthCheckPath`, `targetType`)."""

    kind = "target group"
    name_paths = ("name",)


class LoadBalancer(Entity):
    """A load balancer; `scheme`, `type`, `securityGroups`."""

    kind = "load balancer"
    name_paths = ("name",)


class Listener(Entity):
    """A listener; `defaultActions`, `protocol`, `loadBalancerArn`."""

    kind = "listener"
    name_paths = ()


class ListenerRule(Entity):
    """A rule of a listener; `actions`, `conditions`."""

    kind = "listener rule"
    name_paths = ()


class EventRule(Entity):
    """An event rule; `eventPattern` (parsed), `targets`."""

    kind = "event rule"
    name_paths = ("name",)


class FileSystem(Entity):
    """FSx or EFS; `fileSystemType` is LUSTRE, WINDOWS, ... or EFS; `subnetIds`."""

    kind = "file system"
    name_paths = ("fileSystemId",)

    @property
    def is_lustre(self) -> bool:
        """FSx for Lustre."""
        return self.text("fileSystemType") == "LUSTRE"


class MountTarget(Entity):
    """An EFS mount target; `fileSystemId`, `subnetId`."""

    kind = "mount target"
    name_paths = ()


class Role(Entity):
    """An IAM role; `assumeRolePolicyDocument` and `policies[].policyDocument` are parsed."""

    kind = "role"
    name_paths = ("roleName",)


class Policy(Entity):
    """An IAM policy; `policyDocument` is parsed; `roles` are those it is attached to."""

    kind = "policy"
    name_paths = ("policyName", "managedPolicyName")


class EcrRepository(Entity):
    """`imageTagMutability`, `imageScanningConfiguration.scanOnPush`."""

    kind = "image repository"
    name_paths = ("repositoryName",)


class LogGroup(Entity):
    """`logGroupName`, `retentionInDays`."""

    kind = "log group"
    name_paths = ("logGroupName",)


class Alarm(Entity):
    """A CloudWatch alarm; `metricName`, `namespace`."""

    kind = "alarm"
    name_paths = ("alarmName",)


class Budget(Entity):
    """A budget."""

    kind = "budget"
    name_paths = ()


class ComputeEnvironment(Entity):
    """A Batch compute environment; `computeResources.type` and so on."""

    kind = "compute environment"
    name_paths = ("computeEnvironmentName",)


class JobQueue(Entity):
    """A Batch job queue; `computeEnvironmentOrder`."""

    kind = "job queue"
    name_paths = ("jobQueueName",)


class Bucket(Entity):
    """An S3 bucket; `versioningConfiguration.status`."""

    kind = "bucket"
    name_paths = ("bucketName",)

    @property
    def is_versioned(self) -> bool | None:
        """Versioning is on, here or in a resource of its own; None when it cannot be known."""
        status = self.text("versioningConfiguration.status")
        if self.flag("versioning.enabled") or status == "Enabled":
            return True
        unsure = self.has("versioningConfiguration") and status is None
        for other in self.world.near(self, BucketVersioning):
            if self.world.link(other, other.raw("bucket"), Bucket) is self:
                status = other.text("versioningConfiguration.status")
                return status == "Enabled" if status else None
            unsure = unsure or isinstance(other.raw("bucket"), Unknown)
        return None if unsure else False


class VpcEndpoint(Entity):
    """A VPC endpoint; `serviceName`, `vpcEndpointType`."""

    kind = "VPC endpoint"
    name_paths = ()


class ScalableTarget(Entity):
    """Application Auto Scaling target; `resourceId`, `minCapacity`, `maxCapacity`."""

    kind = "scalable target"
    name_paths = ()


class ScalingPolicy(Entity):
    """Application Auto Scaling policy; `targetTrackingScalingPolicyConfiguration`."""

    kind = "scaling policy"
    name_paths = ("policyName",)


class DiscoveryService(Entity):
    """A Cloud Map service; `dnsConfig`."""

    kind = "discovery service"
    name_paths = ("name",)


class Detector(Entity):
    """A GuardDuty detector; `features`."""

    kind = "GuardDuty detector"
    name_paths = ()


class Trail(Entity):
    """A CloudTrail trail."""

    kind = "trail"
    name_paths = ("trailName", "name")


class BucketVersioning(Entity):
    """Versioning of a bucket as a resource of its own; `bucket`, `versioningConfiguration`."""

    kind = "bucket versioning"
    name_paths = ()


class ScheduledAction(Entity):
    """A scheduled change of a scaling group's size."""

    kind = "scheduled action"
    name_paths = ()
